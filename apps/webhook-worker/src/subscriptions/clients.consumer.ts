import { forEachMessage, Messaging } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { DeleteRevokedSubscriptions } from './delete-revoked-subscriptions.js';

/**
 * Consumes auth-server's messages about clients, one at a time: each may affect thousands of subscriptions.
 */
@Injectable()
export class ClientsConsumer {
  constructor(messaging: Messaging, deleteRevoked: DeleteRevokedSubscriptions) {
    messaging.consume({
      queue: 'webhook-worker.clients',
      batchSize: 1,
      handle: forEachMessage((tx, message) => deleteRevoked.run(tx, message)),
    });
  }
}
