import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * Returns a script that completes commands and their options.
 * @param eventNames offered after every command
 */
export function completionScript(
  program: Command,
  shell: (typeof shells)[number],
  eventNames: readonly string[],
): string {
  return shell === 'fish' ? fishScript(program, eventNames) : bashScript(program, shell, eventNames);
}

/** Returns the completion script for bash, which zsh runs as well in its emulation of bash. */
function bashScript(program: Command, shell: 'bash' | 'zsh', eventNames: readonly string[]): string {
  const cases = program.commands.map((command) => bashCase(command, eventNames));
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

function bashCase(command: Command, eventNames: readonly string[]): string {
  const subcommands = command.commands.map((subcommand) => subcommand.name());
  return `    *:${command.name()}) words=${quoted([...subcommands, ...optionsOf(command), ...eventNames])} ;;`;
}

/** Returns the options of the command and of its subcommands. */
function optionsOf(command: Command): string[] {
  const options = [command, ...command.commands].flatMap((each) =>
    each.options.map(({ long }) => long ?? ''),
  );
  return [...new Set(options)];
}

function quoted(words: readonly string[]): string {
  return `'${words.join(' ')}'`;
}

function fishScript(program: Command, eventNames: readonly string[]): string {
  const complete = (condition: string, ...words: string[]): string =>
    ['complete -c fulfilment -n', `'${condition}'`, ...words].join(' ');
  const described = (command: Command): string[] => [
    '-f -a', // no files
    command.name(),
    '-d',
    `'${command.description().replaceAll("'", String.raw`\'`)}'`,
  ];
  return program.commands
    .flatMap((command) => {
      const after = `__fish_seen_subcommand_from ${command.name()}`;
      return [
        complete('__fish_use_subcommand', ...described(command)),
        ...command.commands.map((subcommand) => complete(after, ...described(subcommand))),
        complete(after, '-a', quoted([...optionsOf(command), ...eventNames])),
      ];
    })
    .join('\n');
}
