import { once } from 'node:events';
import { PaymentProviderError } from '../payment-gateway.js';

/**
 * Rejects when the signal is aborted before the work ends. Stripe's library takes no abort signal, and each
 * received byte restarts the timeout of the library.
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const aborted = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw new PaymentProviderError('unavailable', 'timeout');
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    ended.abort();
  }
}
