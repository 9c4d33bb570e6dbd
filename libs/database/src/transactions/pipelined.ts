/**
 * Waits for statements that were sent without waiting for each other's results. One connection runs them in
 * the order in which they were sent. If several fail, throws the error of the first in the given order.
 */
export async function pipelined<const Pending extends readonly unknown[]>(
  pending: Pending,
): Promise<{ -readonly [Index in keyof Pending]: Awaited<Pending[Index]> }> {
  for (const result of await Promise.allSettled(pending))
    if (result.status === 'rejected') throw result.reason;
  return Promise.all(pending);
}
