import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { quotasOf, RateLimiter, type RedisConnection, SignedCursors } from '@fulfilment/http-service';
import { Messaging, Outbox } from '@fulfilment/messaging';
import { CLOCK, LOGGER, type Logger, systemClock } from '@fulfilment/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { ApproveRelease } from './catalogue/approve-release.js';
import { ArtistOfEditions } from './catalogue/artist-of-editions.js';
import { ChangeProducts } from './catalogue/change-products.js';
import { CreateEdition } from './catalogue/create-edition.js';
import { ListTracks } from './catalogue/list-tracks.js';
import { ReadReleases } from './catalogue/read-releases.js';
import { ApplyStockEvents } from './catalogue/apply-stock-events.js';
import { SellableProducts } from './catalogue/sellable-products.js';
import { Stock } from './catalogue/stock.js';
import { CONFIG, type StoreApiSettings } from './config.js';
import { CreatorsConsumer } from './connected-creator/creators.consumer.js';
import { ReadCreator } from './connected-creator/read-creator.js';
import { RecordCreator } from './connected-creator/record-creator.js';
import { IdempotencyKeys } from './orders/idempotency-keys.js';
import { ChargeOrder } from './billing/charge-order.js';
import { FaultPoints } from './fault-points.js';
import { FulfilmentConsumer } from './fulfilment/fulfilment.consumer.js';
import { DeferredEvents } from './fulfilment/deferred-events.js';
import { TransitionOrder } from './fulfilment/transition-order.js';
import { PaymentMethods } from './billing/payment-methods.js';
import { PlaceOrder } from './orders/place-order.js';
import { PriceOrder } from './orders/price-order.js';
import { ReadOrders } from './orders/read-orders.js';
import { RefundCharges } from './billing/refund-charges.js';
import { HandleFulfilmentEvent } from './fulfilment/handle-fulfilment-event.js';
import { ResumeOrders } from './orders/resume-orders.js';
import { SettleOrder } from './orders/settle-order.js';
import { WriteOrder } from './orders/write-order.js';
import { ChargeCircuit } from './billing/charge-circuit.js';
import { choosePaymentGateway } from './payments/choose-payment-gateway.js';
import { DailyReconciliation } from './billing/daily-reconciliation.js';
import { PaymentGateway } from './payments/payment-gateway.js';
import { ReceiveStripeEvent } from './payments/stripe/receive-stripe-event.js';
import { StripeWebhooksController } from './payments/stripe/stripe-webhooks.controller.js';
import { controllers } from './controllers.js';
import { ShippingQuotes } from './shipping/shipping-quotes.js';
import { QuoteRates } from './shipping/quote-rates.js';
import { ReadServices } from './shipping/read-services.js';

/** The connections that main.ts opens for the use cases. */
export interface Infrastructure {
  readonly config: StoreApiSettings;
  readonly logger: Logger;
  readonly database: Database;
  readonly background: Database;
  readonly redis: RedisConnection;
  readonly messaging: Messaging;
}

@Module({
  controllers,
  providers: [
    PlaceOrder,
    PriceOrder,
    WriteOrder,
    ChargeOrder,
    ChargeCircuit,
    DailyReconciliation,
    SettleOrder,
    ResumeOrders,
    RefundCharges,
    ReceiveStripeEvent,
    TransitionOrder,
    DeferredEvents,
    HandleFulfilmentEvent,
    ReadOrders,
    IdempotencyKeys,
    Stock,
    ChangeProducts,
    ApplyStockEvents,
    ApproveRelease,
    CreateEdition,
    ArtistOfEditions,
    ListTracks,
    ReadReleases,
    QuoteRates,
    ShippingQuotes,
    SellableProducts,
    PaymentMethods,
    ReadServices,
    ReadCreator,
    RecordCreator,
    FulfilmentConsumer,
    CreatorsConsumer,
    {
      provide: PaymentGateway,
      useFactory: choosePaymentGateway,
      inject: [CONFIG, Database, BACKGROUND_DATABASE],
    },
  ],
})
export class StoreApiModule {
  static with({ config, logger, database, background, redis, messaging }: Infrastructure): DynamicModule {
    return {
      module: StoreApiModule,
      controllers: config.STRIPE_WEBHOOK_SECRET === undefined ? [] : [StripeWebhooksController],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: FaultPoints, useValue: new FaultPoints(config.FAULT_POINT) },
        { provide: LOGGER, useValue: logger },
        { provide: CLOCK, useValue: systemClock },
        { provide: Database, useValue: database },
        { provide: BACKGROUND_DATABASE, useValue: background },
        { provide: RateLimiter, useValue: new RateLimiter(redis, quotasOf(config)) },
        { provide: Messaging, useValue: messaging },
        { provide: Outbox, useValue: messaging.outbox },
        { provide: SignedCursors, useValue: new SignedCursors(config.CURSOR_SECRET) },
      ],
    };
  }
}
