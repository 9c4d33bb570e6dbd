import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { SignedCursors } from '@fulfilment/http-service';
import { Messaging } from '@fulfilment/messaging';
import { CLOCK, type Clock, type Logger, LOGGER, SecretBox } from '@fulfilment/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from './config.js';
import { DirectDrains } from './delivery/direct-drains.js';
import { DrainJobs } from './delivery/drain.job.js';
import { DrainQueues } from './delivery/drain-queues.js';
import { DrainSubscription } from './delivery/drain-subscription.js';
import { HostSlots } from './delivery/host-slots.js';
import { Lease } from './delivery/lease.js';
import { PostWebhook } from './delivery/post-webhook.js';
import { Reconciler } from './delivery/reconciler.js';
import { SettleAttempts } from './delivery/settle-attempts.js';
import { Settlements } from './delivery/settle.js';
import { WakeUps } from './delivery/wake-ups.js';
import { EventsConsumer } from './fan-out/events.consumer.js';
import { FanOut } from './fan-out/fan-out.js';
import { ReadDeliveries } from './history/read-deliveries.js';
import { RecoverDeliveries } from './history/recover-deliveries.js';
import { RetryDelivery } from './history/retry-delivery.js';
import { SendTestEvent } from './history/send-test-event.js';
import { controllers } from './controllers.js';
import { MoveDeliveries } from './moves/move-deliveries.js';
import { CheckTarget } from './subscriptions/check-target.js';
import { ClientsConsumer } from './subscriptions/clients.consumer.js';
import { CreateSubscription } from './subscriptions/create-subscription.js';
import { DeleteSubscription } from './subscriptions/delete-subscription.js';
import { EndAccess } from './subscriptions/end-access.js';
import { ReadSubscriptions } from './subscriptions/read-subscriptions.js';
import { SigningKeys } from './subscriptions/signing-keys.js';
import { TellOwners } from './subscriptions/tell-owners.js';
import { UpdateSubscription } from './subscriptions/update-subscription.js';
import { Upkeep } from './upkeep.js';

export interface WebhookWorkerParts {
  readonly config: WebhookWorkerSettings;
  readonly logger: Logger;
  readonly database: Database;
  readonly background: Database;
  readonly delivery: Database;
  readonly messaging: Messaging;
  readonly client: GuardedClient;
  readonly clock: Clock;
}

const subscriptions = [
  CheckTarget,
  ClientsConsumer,
  CreateSubscription,
  DeleteSubscription,
  EndAccess,
  ReadSubscriptions,
  TellOwners,
  UpdateSubscription,
  SigningKeys,
];
const fanOut = [FanOut, EventsConsumer];
const deliveryWork = [
  DirectDrains,
  DrainJobs,
  DrainQueues,
  DrainSubscription,
  HostSlots,
  Lease,
  PostWebhook,
  Reconciler,
  SettleAttempts,
  Settlements,
  WakeUps,
];
const history = [ReadDeliveries, RecoverDeliveries, RetryDelivery, SendTestEvent];

@Module({})
export class WebhookWorkerModule {
  static with(parts: WebhookWorkerParts): DynamicModule {
    const { config, logger, database, background, delivery, messaging, client, clock } = parts;
    return {
      module: WebhookWorkerModule,
      controllers,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: LOGGER, useValue: logger },
        { provide: CLOCK, useValue: clock },
        { provide: Database, useValue: database },
        { provide: BACKGROUND_DATABASE, useValue: background },
        { provide: DELIVERY_DATABASE, useValue: delivery },
        { provide: Messaging, useValue: messaging },
        { provide: GuardedClient, useValue: client },
        { provide: SecretBox, useValue: new SecretBox(config.SECRET_ENCRYPTION_KEY) },
        { provide: SignedCursors, useValue: new SignedCursors(config.CURSOR_SECRET) },
        ...subscriptions,
        ...fanOut,
        MoveDeliveries,
        ...deliveryWork,
        ...history,
        Upkeep,
      ],
    };
  }
}
