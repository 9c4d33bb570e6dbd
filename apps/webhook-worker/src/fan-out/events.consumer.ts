import type { Message } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { FanOut } from './fan-out.js';

/** Consumes the messages that become events. */
@Injectable()
export class EventsConsumer extends MessageConsumer {
  readonly queue = 'webhook-worker.events';
  readonly batchSize = 500;

  constructor(private readonly fanOut: FanOut) {
    super();
  }

  async handle(tx: Transaction, messages: readonly Message[]): Promise<void> {
    await this.fanOut.run(tx, messages);
  }
}
