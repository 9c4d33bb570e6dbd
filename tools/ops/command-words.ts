/** The words of a command line: `commandWords('user create', { email })`. */
export function commandWords(command: string, options: Readonly<Record<string, string>>): string[] {
  return [...command.split(' '), ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
}
