import type { Database } from '@fulfilment/database';
import type { StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import { ProviderOrSandboxGateway } from './provider-or-sandbox-gateway.js';
import type { PaymentGateway } from './payment-gateway.js';
import { SandboxPaymentGateway } from './sandbox-payment-gateway.js';
import { StripeIdempotencyKeys } from './stripe/stripe-idempotency-keys.js';
import { StripePaymentGateway } from './stripe/stripe-payment-gateway.js';

/**
 * Creates the gateway of the configured provider. Test orders are always charged by the sandbox.
 * @param database pool for the charges of the sandbox
 * @param background pool for the idempotency keys of Stripe requests, which only retries and refunds use
 */
export function choosePaymentGateway(
  config: StoreApiSettings,
  database: Database,
  background: Database,
): PaymentGateway {
  const sandbox = new SandboxPaymentGateway(database);
  if (config.PAYMENT_PROVIDER === 'sandbox') return sandbox;
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
