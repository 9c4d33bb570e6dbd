import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { readCommandLine } from './read-command-line.ts';
import { takeOperatorName } from './operator-name.ts';
import { openSuite } from './running-suite.ts';

async function main(): Promise<void> {
  const asked = readCommandLine(takeOperatorName(process.argv.slice(2)));
  if ('help' in asked) return console.log(asked.help);
  const result = await asked.command.run(await openSuite(), asked.given);
  const { readable = lines } = asked.command;
  console.log(asked.json ? JSON.stringify(result) : readable(result));
}

function lines(result: Readonly<Record<string, unknown>>): string {
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

/** Formats any error in one line. */
function formatLine(error: unknown): string {
  return errorText(error)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
}

function errorText(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (error instanceof z.ZodError)
    return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}.`).join(' ');
  return `The command failed: ${error instanceof Error ? error.message : String(error)}`;
}

main().catch((error: unknown) => {
  console.error(formatLine(error));
  process.exit(1);
});
