/** An error that a person can act on. Printed without a stack trace. */
export class Failure extends Error {}

/** Text for a person: the message of a Failure, and the stack trace of any other error. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (isMistyped(error)) return error.message.replace(/\. .*/s, '.'); // omits the advice on escaping
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Runs a program, whose result is the exit status. Prints the reason of a failure and exits with 1.
 * @param help printed for `--help` and `-h` instead, and after a mistyped option
 */
export function runMain(main: () => Promise<number | void>, help?: string): void {
  if (help !== undefined && process.argv.some((argument) => argument === '--help' || argument === '-h'))
    return console.log(help);
  main().then(
    (status) => {
      if (status !== undefined) process.exit(status);
    },
    (error: unknown) => {
      console.error(reasonOf(error));
      if (help !== undefined && isMistyped(error)) console.error(`\n${help}`);
      process.exit(1);
    },
  );
}

/** Whether `parseArgs` rejected an option. */
function isMistyped(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
