import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import { CheckProviderKey } from './check-provider-key.js';
import { choosePaymentGateway } from './choose-payment-gateway.js';
import { PaymentGateway } from './payment-gateway.js';

@Module({})
export class PaymentsModule {
  static forRoot({ STRIPE_WEBHOOK_SECRET, FAULT_POINT }: StoreApiSettings): DynamicModule {
    return {
      module: PaymentsModule,
      imports: STRIPE_WEBHOOK_SECRET === undefined ? [] : [importStripeWebhooks()],
      global: true,
      providers: [
        CheckProviderKey,
        { provide: FaultPoints, useValue: new FaultPoints(FAULT_POINT) },
        {
          provide: PaymentGateway,
          inject: [CONFIG, Database, BACKGROUND_DATABASE],
          useFactory: choosePaymentGateway,
        },
      ],
      exports: [FaultPoints, PaymentGateway],
    };
  }
}

/** Loads the module only where it is used, since Stripe's library slows the start down. */
async function importStripeWebhooks(): Promise<DynamicModule> {
  const { StripeWebhooksModule } = await import('./stripe/stripe-webhooks.module.js');
  return { module: StripeWebhooksModule };
}
