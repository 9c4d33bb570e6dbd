import { type Message, topologyOf } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../dev/failure.ts';
import { operatorName } from './operator-name.ts';
import { waitUntilApplied } from './applied.ts';
import type { RunningSuite } from './running-suite.ts';

const confirmTimeoutMs = 10_000;
const closeTimeoutMs = 1_000;
const untaken =
  'did not confirm the message. The message may still arrive: check whether it was applied before you retry.';

/**
 * Publishes one message as the warehouse does. Returns when store-api has applied or deferred it.
 * @throws Failure if store-api rejects it
 */
export async function report(suite: RunningSuite, message: Message): Promise<Record<string, unknown>> {
  await publish(suite, message);
  const outcome = await waitUntilApplied(suite, 'store-api', message.id);
  if (outcome.outcome === 'refused') throw new Failure(`Rejected: ${outcome.reason ?? 'no reason given'}.`);
  const waitsFor = outcome.outcome === 'held' ? { reason: outcome.reason } : {};
  return { message_id: message.id, type: message.type, outcome: outcome.outcome, ...waitsFor };
}

async function publish({ rabbitmq, namespace }: RunningSuite, message: Message): Promise<void> {
  const connection = await connect(rabbitmq, { timeout: 5_000 }).catch((error: unknown) => {
    throw new Failure(`RabbitMQ is unreachable: ${error instanceof Error ? error.message : String(error)}`);
  });
  try {
    const channel = await connection.createConfirmChannel();
    const unroutable = new Promise<never>((_resolve, reject) => {
      channel.once('return', () =>
        reject(new Failure('No queue receives this message yet. Check that store-api is running.')),
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
            : reject(new Failure('RabbitMQ rejected the message.')),
      );
    });
    const alarm = new Promise<never>((_resolve, reject) => {
      connection.once('blocked', () =>
        reject(new Failure(`RabbitMQ is low on memory or disk space and ${untaken}`)),
      );
    });
    const silence = new Promise<never>((_resolve, reject) => {
      setTimeout(
        () => reject(new Failure(`RabbitMQ does not respond and ${untaken}`)),
        confirmTimeoutMs,
      ).unref();
    });
    await Promise.race([confirmed, unroutable, alarm, silence]); // a return comes before its confirmation
  } finally {
    await Promise.race([connection.close(), delay(closeTimeoutMs, undefined, { ref: false })]);
  }
}
