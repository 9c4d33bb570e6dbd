import { publicId } from '@fulfilment/contracts';
import { inSpan } from '@fulfilment/runtime';
import type { Charge } from '../payments/payment-gateway.js';

/**
 * Sends a request about a charge to the payment provider, in a span that shows the outcome.
 * @param provider the configured one; test orders use the sandbox
 */
export function inProviderSpan<Result extends { readonly status: string }>(
  operation: 'charge' | 'refund',
  { id, orderId, isTest }: Charge & { readonly orderId?: string },
  provider: string,
  send: () => Promise<Result>,
): Promise<Result> {
  const spanOptions = () => ({
    name: `${operation} payment`,
    kind: 'client' as const,
    attributes: {
      'payment.operation': operation,
      'payment.provider': isTest ? 'sandbox' : provider,
      'payment.charge.id': id,
      ...(orderId !== undefined && { 'order.id': publicId('ord', orderId) }),
    },
  });
  return inSpan(spanOptions, async (span) => {
    const result = await send();
    span?.set({ 'payment.outcome': result.status });
    return result;
  });
}
