import { once } from 'node:events';
import { PaymentProviderUnavailable } from '../payment-gateway.js';

/** Stripe's library takes no abort signal, and each received byte restarts its own timeout. */
export async function untilAborted<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const aborted = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw new PaymentProviderUnavailable('Stripe did not respond in time.');
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    ended.abort();
  }
}
