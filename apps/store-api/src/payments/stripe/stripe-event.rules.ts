import Stripe from 'stripe';
import { z } from 'zod';

/** The charge or refund that an event of Stripe is about. */
type StripeHint =
  | { readonly about: 'charge'; readonly chargeId: string }
  /** `reference` is Stripe's id of the refund. */
  | { readonly about: 'refund'; readonly reference: string; readonly isFailure: boolean };

/** Maximum age of a signature (https://docs.stripe.com/webhooks#replay-attacks). */
const toleranceSeconds = 300;

const hintShape = z.union([
  z
    .object({ object: z.literal('payment_intent'), metadata: z.object({ charge_id: z.guid() }) })
    .transform(({ metadata }): StripeHint => ({ about: 'charge', chargeId: metadata.charge_id })),
  z
    .object({ object: z.literal('refund'), id: z.string().max(255), status: z.string().nullish() })
    .transform(({ id, status }): StripeHint => ({
      about: 'refund',
      reference: id,
      isFailure: status === 'failed' || status === 'canceled',
    })),
]);
const eventShape = z.object({ data: z.object({ object: hintShape }) });

/** Whether Stripe signed the bytes with one of the secrets, within the tolerance. */
export function isSignedByStripe(
  body: Uint8Array,
  signature: string,
  secrets: readonly string[],
  now: Date,
): boolean {
  return secrets.some((secret) => {
    try {
      const { signature: verifier } = Stripe.webhooks;
      return (
        verifier?.verifyHeader(body, signature, secret, toleranceSeconds, undefined, now.getTime()) === true
      );
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
      throw error;
    }
  });
}

/** Returns undefined for an event about neither a charge of ours nor a refund. */
export function hintOf(body: Buffer): StripeHint | undefined {
  return eventShape.safeParse(jsonOf(body)).data?.data.object;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
