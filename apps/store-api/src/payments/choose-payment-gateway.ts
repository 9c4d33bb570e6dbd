import type { Database } from '@fulfilment/database';
import type { StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import { ProviderOrSandboxGateway } from './provider-or-sandbox-gateway.js';
import type { PaymentGateway } from './payment-gateway.js';
import { SandboxPaymentGateway } from './sandbox-payment-gateway.js';

/**
 * Creates the gateway of the configured provider, and loads only its library. Test orders are always charged
 * by the sandbox.
 * @param database pool for the charges of the sandbox
 * @param background pool for `stripe_keys`, which only retries and refunds read and write
 */
export async function choosePaymentGateway(
  config: StoreApiSettings,
  database: Database,
  background: Database,
): Promise<PaymentGateway> {
  const sandbox = new SandboxPaymentGateway(database);
  if (config.PAYMENT_PROVIDER === 'sandbox') return sandbox;
  const { StripePaymentGateway } = await import('./stripe/stripe-payment-gateway.js');
  const { StripeIdempotencyKeys } = await import('./stripe/stripe-idempotency-keys.js');
  const stripe = new StripePaymentGateway(
    {
      secretKey: config.STRIPE_SECRET_KEY ?? '', // the settings require it for Stripe
      apiUrl: new URL(config.STRIPE_API_URL),
      timeoutMs: config.PAYMENT_TIMEOUT_MS,
    },
    new StripeIdempotencyKeys(background),
    new FaultPoints(config.FAULT_POINT),
  );
  return new ProviderOrSandboxGateway(stripe, sandbox);
}
