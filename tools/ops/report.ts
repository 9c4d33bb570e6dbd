import { type Message, topologyOf } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../dev/failure.ts';
import { operatorName } from './operator-name.ts';
import { waitUntilApplied } from './applied.ts';
import type { RunningSuite } from './running-suite.ts';

const confirmedWithinMs = 10_000;
const closedWithinMs = 1_000;
const untaken =
  'has not taken the message. It may take it yet: look whether it was applied before you send it again.';

/** Publishes one message as the warehouse would and returns when store-api has applied it, or holds it until it makes sense. @throws Failure when it was refused */
export async function report(suite: RunningSuite, message: Message): Promise<Record<string, unknown>> {
  await publish(suite, message);
  const outcome = await waitUntilApplied(suite, 'store-api', message.id);
  if (outcome.outcome === 'refused') throw new Failure(`Refused: ${outcome.reason ?? 'no reason given'}.`);
  const waitsFor = outcome.outcome === 'held' ? { reason: outcome.reason } : {};
  return { message_id: message.id, type: message.type, outcome: outcome.outcome, ...waitsFor };
}

async function publish({ rabbitmq, namespace }: RunningSuite, message: Message): Promise<void> {
  const connection = await connect(rabbitmq, { timeout: 5_000 }).catch((error: unknown) => {
    throw new Failure(
      `RabbitMQ cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  try {
    const channel = await connection.createConfirmChannel();
    const unroutable = new Promise<never>((_resolve, reject) => {
      channel.once('return', () =>
        reject(new Failure('No service takes this message yet: is store-api up?')),
      );
    });
    const confirmed = new Promise<void>((resolve, reject) => {
      channel.publish(
        topologyOf(namespace).factsExchange,
        message.type,
        Buffer.from(JSON.stringify({ ...message, operator: operatorName() })),
        { persistent: true, mandatory: true, messageId: message.id, contentType: 'application/json' },
        (error: unknown) =>
          error === null || error === undefined
            ? resolve()
            : reject(new Failure('RabbitMQ refused the message.')),
      );
    });
    const alarm = new Promise<never>((_resolve, reject) => {
      connection.once('blocked', () =>
        reject(new Failure(`RabbitMQ is short of memory or disk and ${untaken}`)),
      );
    });
    const silence = new Promise<never>((_resolve, reject) => {
      setTimeout(
        () => reject(new Failure(`RabbitMQ says nothing and ${untaken}`)),
        confirmedWithinMs,
      ).unref();
    });
    await Promise.race([confirmed, unroutable, alarm, silence]); // a return comes before its confirmation
  } finally {
    await Promise.race([connection.close(), delay(closedWithinMs, undefined, { ref: false })]);
  }
}
