import { forEachMessage, MessageConsumer } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { DeleteRevokedSubscriptions } from './delete-revoked-subscriptions.js';

/**
 * Consumes auth-server's messages about clients, one at a time: each may affect thousands of subscriptions.
 */
@Injectable()
export class ClientsConsumer extends MessageConsumer {
  readonly queue = 'webhook-worker.clients';
  readonly batchSize = 1;

  constructor(private readonly deleteRevoked: DeleteRevokedSubscriptions) {
    super();
  }

  readonly handle = forEachMessage((tx, message) => this.deleteRevoked.run(tx, message));
}
