import { argumentsHelp, listCommands, suiteCommands } from '../ops/command-list.ts';
import { table } from './markdown.ts';

/** The operator commands of all services, as their programs describe them. */
export async function commandsReference(): Promise<string> {
  const sections = [...(await listCommands()), ['Several services', suiteCommands] as const];
  return `# Operator commands

\`npm run -s ops -- COMMAND [--json] [--as NAME]\`; \`COMMAND --help\` shows the options. A command returns when its change is applied. An error is one line, with exit
status 1. In production the same commands run in the services, \`node dist/cli.js COMMAND --as NAME\`, and print JSON: [runbook.md](runbook.md).

${argumentsHelp}
${sections
  .map(
    ([title, commands]) => `
## ${title}

${table(
  ['Command', 'Effect'],
  commands.map(({ usage, summary }) => [`\`${usage}\``, summary]),
)}
`,
  )
  .join('')}`;
}
