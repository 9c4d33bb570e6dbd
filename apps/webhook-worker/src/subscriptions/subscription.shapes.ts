import { idShape } from '@fulfilment/contracts';
import { z } from 'zod';
import {
  maxCountedDue,
  maxInFlightLimit,
  maxSubscriptions,
  signatureVersions,
  subscribableNames,
  subscriptionStatuses,
} from './subscription.rules.js';

const subscriptionExample = {
  id: 'whk_01m7xwmwx4f08v4cgpyk3kx08m',
  events: ['order.shipped' as const, 'order.delivered' as const],
  url: 'https://shop.example/hooks/fulfilment',
  status: 'active' as const,
  consecutive_failures: 0,
  last_delivery_at: '2026-11-20T12:00:01.034Z',
  last_failure_at: null,
  disabled_at: null,
  max_in_flight: 64,
  signature: 'v1' as const,
};

/** A subscription in the Store API. It never contains the secret. */
export const subscriptionShape = z
  .object({
    id: idShape('whk', 'The id of the subscription'),
    events: z
      .array(z.enum(subscribableNames))
      .min(1)
      .describe('Events that the subscription receives, as its owner named them'),
    url: z.url().describe('URL that receives deliveries'),
    status: z
      .enum(subscriptionStatuses)
      .describe(
        'A subscription is disabled by its owner, after at least 20 consecutive failures over at least 72 hours, or when the receiver responds with 410',
      ),
    consecutive_failures: z
      .int()
      .min(0)
      .describe('Failed attempts since the last successful one; test events do not count'),
    last_delivery_at: z.iso.datetime().nullable().describe('When an attempt last succeeded'),
    last_failure_at: z.iso.datetime().nullable().describe('When an attempt last failed'),
    disabled_at: z.iso
      .datetime()
      .nullable()
      .describe('When the subscription was disabled; null while it is active'),
    max_in_flight: z
      .int()
      .min(1)
      .max(maxInFlightLimit)
      .describe('Maximum number of concurrent requests of one of our processes to the receiver'),
    signature: z
      .enum(signatureVersions)
      .optional()
      .describe(
        '`v1a`: deliveries also have an Ed25519 signature; its public keys are at `/v1/webhooks/{id}/jwks.json`',
      ),
    due_deliveries: z
      .int()
      .min(0)
      .max(maxCountedDue)
      .optional()
      .describe(
        'Number of deliveries that are due and wait to be sent; 1000 means 1000 or more. Not in lists',
      ),
    oldest_due_at: z.iso
      .datetime()
      .nullable()
      .optional()
      .describe('When the oldest due delivery became due; null if none is due. Not in lists'),
  })
  .meta({
    id: 'WebhookSubscription',
    description: 'A webhook subscription. The secret is never returned.',
    examples: [{ ...subscriptionExample, due_deliveries: 3, oldest_due_at: '2026-11-20T12:00:02.120Z' }],
  });
export type SubscriptionView = z.infer<typeof subscriptionShape>;

/** A public key in the JWKS of a subscription (RFC 8037). */
const publicKeyShape = z.object({
  kty: z.literal('OKP').describe('Key type'),
  crv: z.literal('Ed25519').describe('Curve'),
  alg: z.literal('EdDSA').describe('Algorithm of the signatures'),
  use: z.literal('sig').describe('The key verifies signatures'),
  kid: z.string().describe('Thumbprint of the key (RFC 7638)'),
  x: z.string().describe('The public key, base64url'),
});
export type PublicKey = z.infer<typeof publicKeyShape>;

export const publicKeysShape = z
  .object({ keys: z.array(publicKeyShape).max(2).describe('The newest first; empty without `v1a`') })
  .meta({
    id: 'WebhookPublicKeys',
    description: 'Public keys as a JWK Set (RFC 7517).',
    examples: [
      {
        keys: [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            alg: 'EdDSA',
            use: 'sig',
            kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          },
        ],
      },
    ],
  });

export const subscriptionsShape = z
  .object({
    data: z.array(subscriptionShape).max(maxSubscriptions).describe('The subscriptions, newest first'),
  })
  .meta({ examples: [{ data: [subscriptionExample] }] });
