import { forEachMessage, Messaging } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { EndAccess } from './end-access.js';

/** Takes what auth-server tells of clients. One at a time: each may be about thousands of subscriptions. */
@Injectable()
export class ClientsConsumer {
  constructor(messaging: Messaging, endAccess: EndAccess) {
    messaging.consume({
      queue: 'webhook-worker.clients',
      batchSize: 1,
      handle: forEachMessage((tx, message) => endAccess.run(tx, message)),
    });
  }
}
