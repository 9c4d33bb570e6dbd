import type { ErrorDoc } from '@fulfilment/api-reference';
import { Conflict } from '@fulfilment/error-envelope';

const retryAfterSeconds = 1;

/** The `idempotency-key` was used with another body. */
export function keyMismatch(): Conflict {
  return new Conflict('This idempotency-key was used with a different body.', [
    { field: 'idempotency-key', reason: 'body_mismatch' },
  ]);
}

/** The first request with the `idempotency-key` is still running. */
export function keyInUse(): Conflict {
  return new Conflict(
    'A request with this idempotency-key is still running.',
    [{ field: 'idempotency-key', reason: 'in_progress' }],
    retryAfterSeconds,
  );
}

/** Headers of a replay, which is the stored response to an earlier request with the same key. */
export const replayHeaders: Readonly<Record<string, string>> = { 'Idempotent-Replayed': 'true' };

/** Documentation of the conflicts, for operations with an `idempotency-key`. */
export const keyConflicts: readonly ErrorDoc[] = [
  {
    when: 'The `idempotency-key` was used with a different body (`body_mismatch`).',
    example: keyMismatch(),
  },
  {
    when: 'The first request with this `idempotency-key` has no response yet (`in_progress`). Retry after the seconds in `Retry-After`.',
    example: keyInUse(),
  },
];
