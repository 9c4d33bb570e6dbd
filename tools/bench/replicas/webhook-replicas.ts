import { connect } from 'amqplib';
import { BenchDatabase } from '../bench-database.ts';
import type { BenchContext } from '../bench-context.ts';
import { eventually } from '../../dev/eventually.ts';
import { measurePrepared, type Sample } from '../rounds.ts';
import type { ServiceProcess } from '../service-process.ts';
import { DeliveringWorker } from '../webhooks/delivering-worker.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

const disabledCount = 500;
const timeoutMs = 60_000;
const pollIntervalMs = 5;
const clientId = 'bench_disabled';

/** Disabled subscriptions with one delivery each. */
const insertDisabled = `
  WITH subscriptions AS (
    INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status)
    SELECT gen_random_uuid(), gen_random_uuid(), '${clientId}', 'https://receiver.example', ARRAY['order.created'], '', 'v', 'disabled'
    FROM generate_series(1, ${disabledCount}) RETURNING id
  )
  INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status)
  SELECT (now() AT TIME ZONE 'UTC')::date, gen_random_uuid(), id, gen_random_uuid(), 'order.created', 'v', 'held' FROM subscriptions`;

/** Sets the deliveries of disabled subscriptions to `retrying`, and requests bulk updates that hold them. */
const requestHolding = `
  WITH disabled AS (SELECT id FROM webhook_subscriptions WHERE client_id = '${clientId}'), retrying AS (
    UPDATE webhook_deliveries SET status = 'retrying', next_attempt_at = now() + interval '1 day'
    WHERE subscription_id IN (SELECT id FROM disabled)
  )
  INSERT INTO webhook_state_syncs (subscription_id) SELECT id FROM disabled`;

class DisabledSubscriptions extends BenchDatabase {
  async add(): Promise<void> {
    await this.client.query(insertDisabled);
    await this.vacuum();
  }

  /** Measures bulk updates that hold the deliveries of all disabled subscriptions. */
  measureHolding(service: ServiceProcess): Promise<Sample> {
    const areSyncsDone = async () =>
      (await this.client.query('SELECT FROM webhook_state_syncs LIMIT 1')).rowCount === 0;
    return measurePrepared(disabledCount, service, {
      prepare: () => this.client.query(requestHolding),
      work: () => eventually(areSyncsDone, timeoutMs, 'the bulk updates are done', pollIntervalMs),
    });
  }
}

export async function startWebhookReplicas(
  context: BenchContext,
  name: string,
  replicas: number,
): Promise<ReplicaSet> {
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receiver = await ReceiverProcess.start();
  const worker = await DeliveringWorker.start(context, name, { receiver, channel });
  const service = worker.service;
  await addReplicas(service, replicas);
  const disabled = await DisabledSubscriptions.open(service.databaseUrl);
  await disabled.add();
  return {
    service,
    measurements: {
      'deliveries from messages': () => worker.measureFromMessages(),
      'deliveries from a backlog': () => worker.measureFromBacklog(),
      'bulk updates of subscriptions': () => disabled.measureHolding(service),
    },
    close: async () => {
      await disabled.close();
      await worker.data.close();
      await receiver.stop();
      await connection.close();
    },
  };
}
