import { SecretBox } from '@fulfilment/runtime';
import { Module } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { CheckSubscription } from './check-subscription.js';
import { ClientsConsumer } from './revocation/clients.consumer.js';
import { CreateSubscription } from './create-subscription.js';
import { DeleteSubscription } from './delete-subscription.js';
import { DeleteRevokedSubscriptions } from './revocation/delete-revoked-subscriptions.js';
import { ReadPublicKeys } from './keys/read-public-keys.js';
import { ReadSubscriptions } from './read-subscriptions.js';
import { UpdateSubscription } from './update-subscription.js';
import { SigningKeys } from './keys/signing-keys.js';
import { BulkUpdateRequests } from './bulk-update-requests.js';
import { SubscriptionsController } from './subscriptions.controller.js';

@Module({
  controllers: [SubscriptionsController],
  providers: [
    CheckSubscription,
    ClientsConsumer,
    CreateSubscription,
    DeleteSubscription,
    DeleteRevokedSubscriptions,
    ReadPublicKeys,
    ReadSubscriptions,
    UpdateSubscription,
    SigningKeys,
    BulkUpdateRequests,
    {
      provide: SecretBox,
      inject: [CONFIG],
      useFactory: ({ SECRET_ENCRYPTION_KEY }: WebhookWorkerSettings) => new SecretBox(SECRET_ENCRYPTION_KEY),
    },
  ],
  exports: [BulkUpdateRequests, SigningKeys],
})
export class SubscriptionsModule {}
