import Stripe from 'stripe';
import { PaymentProviderError } from '../payment-gateway.js';
import { isTestKey } from './stripe-key.rules.js';

/**
 * Checks that Stripe's mode (test or live) matches the prefix of the API key. A successful check is not
 * repeated.
 */
export class StripeMode {
  /** The check that is running or has succeeded. */
  private currentCheck: Promise<void> | undefined;

  constructor(
    private readonly stripe: Stripe,
    private readonly secretKey: string,
  ) {}

  /**
   * After an error, the next call repeats the check.
   * @throws PaymentProviderError when the modes differ; Stripe's error when the mode cannot be read
   */
  check(): Promise<void> {
    this.currentCheck ??= this.compareModes().catch((error: unknown) => {
      this.currentCheck = undefined;
      throw error;
    });
    return this.currentCheck;
  }

  private async compareModes(): Promise<void> {
    const expectedLivemode = !isTestKey(this.secretKey);
    const livemode = await this.readLivemode();
    if (livemode !== undefined && livemode !== expectedLivemode)
      throw new PaymentProviderError('rejected', 'livemode_mismatch');
  }

  /**
   * Reads the balance, which every account has. Returns undefined for a restricted key that may not read it.
   */
  private async readLivemode(): Promise<boolean | undefined> {
    try {
      return (await this.stripe.balance.retrieve()).livemode;
    } catch (error) {
      if (error instanceof Stripe.errors.StripePermissionError) return undefined;
      throw error;
    }
  }
}
