import Stripe from 'stripe';
import { PaymentProviderRejected } from './payment-gateway.js';
import { isTestKey } from './stripe-key.rules.js';

/** Compares the mode that the key's prefix names with the mode that Stripe answers in, once; nothing is charged before. */
export class StripeMode {
  private checking: Promise<void> | undefined;

  constructor(
    private readonly stripe: Stripe,
    private readonly secretKey: string,
  ) {}

  /** @throws PaymentProviderRejected when they differ; Stripe's error when it cannot be known now: then the next call reads again */
  check(): Promise<void> {
    this.checking ??= this.compare().catch((error: unknown) => {
      this.checking = undefined;
      throw error;
    });
    return this.checking;
  }

  private async compare(): Promise<void> {
    const expected = !isTestKey(this.secretKey);
    const livemode = await this.read();
    if (livemode !== undefined && livemode !== expected)
      throw new PaymentProviderRejected('livemode_mismatch');
  }

  /** The smallest object that every account has. Undefined for a restricted key that may not read it. */
  private async read(): Promise<boolean | undefined> {
    try {
      return (await this.stripe.balance.retrieve()).livemode;
    } catch (error) {
      if (error instanceof Stripe.errors.StripePermissionError) return undefined;
      throw error;
    }
  }
}
