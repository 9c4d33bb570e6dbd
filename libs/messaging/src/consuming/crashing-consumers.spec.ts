/** Tests of messages that kill their process (ADR 23), with real processes. */
import { type MessageQueue, messages, orderedQueues } from '@fulfilment/contracts';
import { DeadLetterQueues } from '../index.js';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '@fulfilment/testing';
import { scratchBroker } from '../testing/scratch-broker.js';
import { scratchDatabase } from '@fulfilment/database/testing';
import { appliedIds, MessagingTestTables1700000000000, stockSet } from '../testing/effects-replica.js';

/** Long enough for many restarts of two processes, on a busy machine. */
const outcomeTimeoutMs = 600_000;
const program = fileURLToPath(new URL('../../dist/testing/dying-replica.js', import.meta.url));
const clientDeleted = (n: number) =>
  messages.clientDeleted.make({ client_id: `client_${n}` }, { occurredAt: new Date() });

describe('a message that kills its process each time', () => {
  it.each([
    ['a shared queue', 'webhook-worker.clients', clientDeleted, 'dead-lettered by RabbitMQ: delivery_limit'],
    ['an ordered queue', 'store-api.fulfilment', stockSet, 'its consumer stopped 10 times while handling it'],
  ] satisfies [string, MessageQueue, typeof stockSet, string][])(
    'is dead-lettered from %s, and the other messages are applied',
    async (_, queue, make, expected) => {
      if (!existsSync(program)) throw new Error(`Build first: there is no ${program}.`);
      const scratch = await scratchDatabase([MessagingTestTables1700000000000]);
      const broker = await scratchBroker(['store-api.fulfilment', 'webhook-worker.clients']);
      const letters = await DeadLetterQueues.open(broker);
      const killer = make(20);
      const others = Array.from({ length: 59 }, (_, n) => make(n));
      await broker.publish(...others.slice(0, 20), killer, ...others.slice(20));
      let deaths = 0;
      let isOver = false;
      const children = new Set<ChildProcess>();
      const keepRunning = async (): Promise<void> => {
        while (!isOver) {
          const child = spawn(process.execPath, [program], {
            env: {
              NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
              DATABASE_URL: scratch.url,
              RABBITMQ_URL: broker.url,
              RABBITMQ_NAMESPACE: broker.namespace,
              QUEUE: queue,
              KILLER: killer.id,
            },
            stdio: ['ignore', 'ignore', 'inherit'],
          });
          children.add(child);
          await once(child, 'exit');
          children.delete(child);
          if (!isOver) deaths += 1;
        }
      };
      const running = Promise.all([keepRunning(), keepRunning()]); // two replicas
      try {
        await eventually(async () => (await appliedIds(scratch.database)).length >= others.length, {
          timeoutMs: outcomeTimeoutMs,
          describe: () => `not all ${others.length} effects exist after ${deaths} deaths`,
        });
        await eventually(async () => (await letters.count(queue)) > 0, {
          timeoutMs: outcomeTimeoutMs,
          describe: () => `there is no dead letter after ${deaths} deaths`,
        });
        expect((await letters.list(queue)).map(({ id, reason }) => ({ id, reason }))).toEqual([
          { id: killer.id, reason: expected },
        ]);
        const applied = await appliedIds(scratch.database);
        const ids = others.map(({ id }) => id);
        if (orderedQueues.has(queue)) expect(applied).toEqual(ids);
        else expect(applied.toSorted()).toEqual(ids.toSorted());
      } finally {
        isOver = true;
        for (const child of children) child.kill('SIGKILL');
        await running;
        await letters.close();
        await broker.drop();
        await scratch.drop();
      }
    },
    2 * outcomeTimeoutMs + 60_000,
  );
});
