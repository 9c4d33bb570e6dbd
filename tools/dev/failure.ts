/** A reason to stop that a person can act on: printed as it is, without a stack. */
export class Failure extends Error {}

export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (isMistyped(error)) return error.message.replace(/\. .*/s, '.'); // without advice on how to escape it
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What `parseArgs` says of a wrong option: a sentence, often with more behind it. */
function isMistyped(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
