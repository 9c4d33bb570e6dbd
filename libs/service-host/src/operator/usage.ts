import type { FlagKind, Commands } from './define-command.js';

const values: Readonly<Record<FlagKind, string>> = { text: ' …', texts: ' … (again for more)', alone: '' };

/** Lists each command with its operands and options. */
export function usage(commands: Commands<never>): string {
  const lines = Object.entries(commands).map(([name, { operands, flags }]) => {
    const options = Object.entries(flags).map(([flag, kind]) => `[--${flag}${values[kind]}]`);
    return `  ${[name, ...operands, ...options].join(' ')}`;
  });
  return [
    'node dist/operate.js COMMAND --as OPERATOR',
    '',
    'Carries one command out and prints one JSON object; what is missing or wrong is said by its name. `batch` takes a',
    'JSON array of command lines, each an array of words, from standard input, and carries them out in order.',
    '',
    ...lines,
  ].join('\n');
}
