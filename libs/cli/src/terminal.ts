/** Output of the commands. Results go to standard output, everything else to standard error. */
export interface Terminal {
  result(line: string): void;
  note(line: string): void;
}

/** An error that a person can act on. Printed without a stack trace. */
export class Failure extends Error {}

/** The command line or an input file is invalid. */
export class UsageError extends Failure {}

/** Replaces control and format characters, so that a text from outside cannot affect the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
