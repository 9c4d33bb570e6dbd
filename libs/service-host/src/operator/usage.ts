import type { FlagKind, Commands } from './define-command.js';

const values: Readonly<Record<FlagKind, string>> = { text: ' …', texts: ' … (repeatable)', alone: '' };

/** Lists each command with its operands and options. */
export function usage(commands: Commands<never>): string {
  const lines = Object.entries(commands).map(([name, { operands, flags }]) => {
    const options = Object.entries(flags).map(([flag, kind]) => `[--${flag}${values[kind]}]`);
    return `  ${[name, ...operands, ...options].join(' ')}`;
  });
  return [
    'node dist/operate.js COMMAND --as OPERATOR',
    '',
    'Runs one command and prints one JSON object; an error names the missing or invalid argument. `batch` reads a JSON',
    'array of command lines, each an array of words, from standard input, and runs them in order.',
    '',
    ...lines,
  ].join('\n');
}
