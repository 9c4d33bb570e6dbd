/**
 * Waits for statements that were asked for at the same time, which go out together. Of those that failed the first in order is what is
 * thrown, whichever was heard of first.
 */
export async function together<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [Index in keyof Asked]: Awaited<Asked[Index]> }> {
  for (const one of await Promise.allSettled(asked)) if (one.status === 'rejected') throw one.reason;
  return Promise.all(asked);
}
