import { type Message, type MessageQueue, messages } from '@fulfilment/contracts';
import { createDataSource, Database, statement, type Transaction } from '@fulfilment/database';
import { patientTimeouts } from '@fulfilment/database/testing';
import type { ConsumerTimes } from '../consuming/queue-reader.js';
import { createMessagingTables, forEachMessage, Messaging } from '../index.js';
import { createLogger } from '@fulfilment/runtime';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables of a test service. TypeORM reads the time of a migration from its name. */
export class MessagingTestTables1700000000000 implements MigrationInterface {
  name = 'MessagingTestTables1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `${createMessagingTables} CREATE TABLE effects (position bigint GENERATED ALWAYS AS IDENTITY, message_id uuid)`,
    );
  }
  async down(): Promise<void> {}
}

export const insertEffect = statement('test.insert', 'INSERT INTO effects (message_id) VALUES ($1)');
const readEffects = statement('test.effects', 'SELECT message_id AS id FROM effects ORDER BY position');

/** Returns the ids of the applied messages, in the order of their effects. */
export async function appliedIds(database: Database): Promise<string[]> {
  return (await database.rows<{ id: string }>(readEffects)).map(({ id }) => id);
}

export interface Replica {
  readonly messaging: Messaging;
  stop(): Promise<void>;
}

export interface ReplicaSettings {
  readonly databaseUrl: string;
  readonly url: string;
  readonly namespace: string;
  readonly queue: MessageQueue;
  readonly batchSize?: number;
  /** By default 60 s. */
  readonly statementTimeoutMs?: number | undefined;
  readonly consumerTimes?: ConsumerTimes;
  readonly gaugeIntervalMs?: number;
  /** By default a ping of the database. */
  readonly ping?: () => Promise<void>;
  /** Called before the effect of a message is written. */
  readonly onHandle?: (tx: Transaction, message: Message) => Promise<void> | void;
}

/**
 * Starts a replica of a test service that records the ids of the messages it applied, in order. The database
 * needs the tables of MessagingTestTables.
 */
export async function startReplica({
  databaseUrl,
  queue,
  batchSize = 50,
  statementTimeoutMs = patientTimeouts.statementTimeoutMs,
  onHandle,
  ...settings
}: ReplicaSettings): Promise<Replica> {
  const dataSource = createDataSource({
    url: databaseUrl,
    poolSize: 3,
    applicationName: 'test',
    migrations: [],
    ...patientTimeouts,
    statementTimeoutMs,
  });
  await dataSource.initialize();
  const logger = createLogger('test', 'silent');
  const messaging = new Messaging({ ...settings, service: 'test' }, new Database(dataSource), logger);
  messaging.consume({
    queue,
    batchSize,
    mayShareTransaction: () => true,
    handle: forEachMessage(async (tx, message) => {
      await onHandle?.(tx, message);
      await tx.run(insertEffect, [message.id]);
    }),
  });
  messaging.start();
  return {
    messaging,
    stop: async () => {
      await messaging.stop();
      await dataSource.destroy();
    },
  };
}

/** Returns a message about the stock of one product. Only the id of the message matters to the tests. */
export const stockSet = (quantity: number): Message =>
  messages.fulfilmentStockSet.make({ sku: 'prod_x', quantity }, { occurredAt: new Date() });
/** Returns messages about the stock of one product. */
export const stockSetMessages = (length: number): Message[] =>
  Array.from({ length }, (_, quantity) => stockSet(quantity));
