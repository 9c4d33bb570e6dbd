/**
 * A program that only publishes messages, with the suite's outbox and relay: an `order.created` for each
 * order snapshot in the posted array, in one transaction. Responds with the time of the commit, and the
 * processor time of the process until then. Prints its port when it is ready. Environment: DATABASE_URL (of
 * an empty database), RABBITMQ_URL, RABBITMQ_NAMESPACE.
 */
import { messages, type OrderSnapshot } from '@fulfilment/contracts';
import { createDataSource, Database, migrate } from '@fulfilment/database';
import { createMessagingTables, declareQueuesOf, Messaging } from '../index.js';
import { createLogger } from '@fulfilment/runtime';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { z } from 'zod';
import { eventually, listen } from '@fulfilment/testing';

class MessagingTables implements MigrationInterface {
  readonly name = 'MessagingTables1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables);
  }

  async down(): Promise<void> {}
}

const environment = z
  .object({ DATABASE_URL: z.string(), RABBITMQ_URL: z.string(), RABBITMQ_NAMESPACE: z.string() })
  .parse(process.env);
const orders = z.array(z.custom<OrderSnapshot>());

const logger = createLogger('outbox-sender', 'error');
const dataSource = createDataSource({
  url: environment.DATABASE_URL,
  poolSize: 10,
  applicationName: 'outbox-sender',
  migrations: [MessagingTables],
});
await dataSource.initialize();
await migrate(dataSource);
const database = new Database(dataSource);
const { RABBITMQ_URL: url, RABBITMQ_NAMESPACE: namespace } = environment;
// Some benchmarks run without the services that declare the queues of order.created.
for (const service of ['creator-api', 'webhook-worker']) await declareQueuesOf(service, { url, namespace });
const messaging = new Messaging({ url, service: 'outbox-sender', namespace }, database, logger);
messaging.start();
await eventually(() => messaging.connected);

/** @returns the time of the commit in milliseconds since the epoch, and the processor time until then */
async function publishCreated(snapshots: readonly OrderSnapshot[]) {
  // An event happens before its transaction commits, so `occurred_at` is never later than the commit.
  const occurredAt = new Date();
  const created = snapshots.map((order) => messages.orderCreated.make({ order }, { occurredAt }));
  const commit = { committed_at_ms: Number.NaN, cpu_ms: Number.NaN };
  await database.transaction(async (tx) => {
    tx.afterCommit(() => {
      const { user, system } = process.cpuUsage();
      commit.committed_at_ms = performance.timeOrigin + performance.now();
      commit.cpu_ms = (user + system) / 1_000;
    });
    await messaging.outbox.add(tx, ...created);
  });
  return commit;
}

const server = createServer((request, response) => {
  json(request)
    .then((body) => publishCreated(orders.parse(body)))
    .then((commit) => response.writeHead(201).end(JSON.stringify(commit)))
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
});
const { port } = await listen(server);
process.stdout.write(`${JSON.stringify({ port })}\n`);
