import type { Command } from 'commander';

/** A script for bash, and for zsh by its emulation: commands, their options, and what follows them. */
export function completionScript(
  program: Command,
  shell: 'bash' | 'zsh',
  operands: readonly string[],
): string {
  const cases = program.commands.flatMap((command) => [
    entry(command.name(), [command, ...command.commands], operands),
  ]);
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_fulfilment() {',
    '  local words',
    '  case "${COMP_CWORD}:${COMP_WORDS[1]}" in',
    `    1:*) words=${quoted(program.commands.map((command) => command.name()))} ;;`,
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _fulfilment fulfilment',
  ].join('\n');
}

function entry(name: string, commands: readonly Command[], operands: readonly string[]): string {
  const options = commands.flatMap((command) => command.options.map(({ long }) => long ?? ''));
  const subcommands = commands.slice(1).map((command) => command.name());
  return `    *:${name}) words=${quoted([...new Set([...subcommands, ...options, ...operands])])} ;;`;
}

function quoted(words: readonly string[]): string {
  return `'${words.join(' ')}'`;
}
