import { Messaging } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { FanOut } from './fan-out.js';

const batchSize = 500;

/** Consumes the messages that become events. */
@Injectable()
export class EventsConsumer {
  constructor(messaging: Messaging, fanOut: FanOut) {
    messaging.consume({
      queue: 'webhook-worker.events',
      batchSize,
      handle: (tx, messages) => fanOut.run(tx, messages),
    });
  }
}
