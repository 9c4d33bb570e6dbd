import { publicId } from '@fulfilment/contracts';
import type { SpanStart } from '@fulfilment/runtime';

/** Returns the start of the span of a request to the payment provider, for `inSpan`. */
export function providerSpan(
  operation: 'charge' | 'refund',
  provider: string,
  { id, orderId }: { readonly id: string; readonly orderId?: string },
): () => SpanStart {
  return () => ({
    name: `${operation} payment`,
    kind: 'client',
    attributes: {
      'payment.operation': operation,
      'payment.provider': provider,
      'payment.charge.id': id,
      ...(orderId !== undefined && { 'order.id': publicId('ord', orderId) }),
    },
  });
}
