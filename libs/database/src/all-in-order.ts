/**
 * Waits for statements that were sent together. If several fail, throws the error of the first in the given
 * order, whichever failed first.
 */
export async function allInOrder<const Pending extends readonly unknown[]>(
  pending: Pending,
): Promise<{ -readonly [Index in keyof Pending]: Awaited<Pending[Index]> }> {
  for (const result of await Promise.allSettled(pending))
    if (result.status === 'rejected') throw result.reason;
  return Promise.all(pending);
}
