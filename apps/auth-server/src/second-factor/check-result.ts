/** A check had nothing to compare the guess with, as when a code arrives after the end of its set-up. */
export const nothingToVerify = Symbol('nothing to verify');

/** Result of the check of a guess: undefined for a wrong one. */
export type CheckResult<Result> = Result | undefined | typeof nothingToVerify;
