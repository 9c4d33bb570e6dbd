import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import { CheckProviderKey } from './check-provider-key.js';
import { choosePaymentGateway } from './choose-payment-gateway.js';
import { PaymentGateway } from './payment-gateway.js';
import { ReceiveStripeEvent } from './stripe/receive-stripe-event.js';
import { StripeWebhooksController } from './stripe/stripe-webhooks.controller.js';

@Module({})
export class PaymentsModule {
  static forRoot({ STRIPE_WEBHOOK_SECRET, FAULT_POINT }: StoreApiSettings): DynamicModule {
    return {
      module: PaymentsModule,
      controllers: STRIPE_WEBHOOK_SECRET === undefined ? [] : [StripeWebhooksController],
      global: true,
      providers: [
        CheckProviderKey,
        ReceiveStripeEvent,
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
