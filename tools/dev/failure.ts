/** A reason to stop that a person can act on: printed as it is, without a stack. */
export class Failure extends Error {}

export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
