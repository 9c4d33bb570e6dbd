import { type Caller, fingerprint, type KeyedRequest } from '@fulfilment/http-service';
import { ownedId } from '../../subscriptions/owner.js';

/**
 * Returns a request about a subscription with its `idempotency-key`; undefined without a key.
 * @param parameters values that must be the same in a repeated request, besides the subscription
 * @throws NotFound on a malformed id or a caller without a creator
 */
export function keyedRequest(
  caller: Caller,
  webhookId: string,
  key: string | undefined,
  parameters: object,
  receivedAt: Date,
): KeyedRequest | undefined {
  if (key === undefined) return undefined;
  const { id, creatorId, clientId } = ownedId(caller, webhookId);
  return {
    scope: { creatorId, clientId, key },
    fingerprints: [fingerprint({ subscription: id, ...parameters })],
    receivedAt,
  };
}
