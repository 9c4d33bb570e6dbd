import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { SignedCursors } from '@fulfilment/http-service';
import { Messaging } from '@fulfilment/messaging';
import { CLOCK, type Clock, type Logger, LOGGER, SecretBox } from '@fulfilment/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from './config.js';
import { DispatchJobs } from './delivery/dispatch-jobs.js';
import { DispatchQueue } from './delivery/dispatch-queue.js';
import { Dispatcher } from './delivery/dispatcher.js';
import { HostSlots } from './delivery/host-slots.js';
import { Lease } from './delivery/lease.js';
import { PostWebhook } from './delivery/post-webhook.js';
import { Reconciler } from './delivery/reconciler.js';
import { SettleAttempts } from './delivery/settle-attempts.js';
import { SettlementBatches } from './delivery/settlement-batches.js';
import { EventsConsumer } from './fan-out/events.consumer.js';
import { FanOut } from './fan-out/fan-out.js';
import { ReadDeliveries } from './history/read-deliveries.js';
import { RecoverDeliveries } from './history/recover-deliveries.js';
import { RetryDelivery } from './history/retry-delivery.js';
import { SendTestEvent } from './history/send-test-event.js';
import { controllers } from './controllers.js';
import { BulkUpdates } from './bulk-updates/bulk-updates.js';
import { BulkUpdateRequests } from './subscriptions/bulk-update-requests.js';
import { CheckTarget } from './subscriptions/check-target.js';
import { ClientsConsumer } from './subscriptions/clients.consumer.js';
import { CreateSubscription } from './subscriptions/create-subscription.js';
import { DeleteSubscription } from './subscriptions/delete-subscription.js';
import { DeleteRevokedSubscriptions } from './subscriptions/delete-revoked-subscriptions.js';
import { ReadSubscriptions } from './subscriptions/read-subscriptions.js';
import { SigningKeys } from './subscriptions/signing-keys.js';
import { NotifyOwners } from './subscriptions/notify-owners.js';
import { UpdateSubscription } from './subscriptions/update-subscription.js';
import { MaintenanceJob } from './maintenance-job.js';

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
  DeleteRevokedSubscriptions,
  ReadSubscriptions,
  NotifyOwners,
  UpdateSubscription,
  SigningKeys,
];
const fanOut = [FanOut, EventsConsumer];
const deliveryWork = [
  Dispatcher,
  DispatchJobs,
  DispatchQueue,
  HostSlots,
  Lease,
  PostWebhook,
  Reconciler,
  SettleAttempts,
  SettlementBatches,
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
        BulkUpdates,
        BulkUpdateRequests,
        ...deliveryWork,
        ...history,
        MaintenanceJob,
      ],
    };
  }
}
