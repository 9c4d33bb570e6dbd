import { messages, topologyOf, uuidv7 } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { type BenchContext, unlimited } from '../bench-context.ts';
import { CreatorData } from '../creator/creator-data.ts';
import { paidOrder, placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { measurePrepared, type Sample } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

const creatorCount = 200;
/** Number of orders in a sample, divided evenly over the creators. */
const orderCount = 4_000;
const timeoutMs = 60_000;
const pollIntervalMs = 5;

/**
 * Paid orders of new creators, as if the creators had been registered after their orders arrived. The amounts
 * are those of creator-data.ts.
 */
const insertWaitingPostings = `
  WITH creator_ids AS MATERIALIZED (SELECT gen_random_uuid() AS id FROM generate_series(1, ${creatorCount})),
  placed AS (
    INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code,
                        gross_amount, royalty_amount, item_count, charged_at)
    SELECT gen_random_uuid(), id, 2, now(), 'GBP', 'paid', 'in_production', '', 2499, 312, 1, now()
    FROM creator_ids, generate_series(1, ${orderCount / creatorCount}) RETURNING id, creator_id, currency, charged_at
  ), items AS (
    INSERT INTO order_items (order_id, position, id, creator_id, release_id, release_title, product_type, ean, quantity,
                             unit_amount, total_amount, vat_amount, royalty_amount, royalty_rate)
    SELECT id, 0, gen_random_uuid(), creator_id, creator_id, 'Release', 'vinyl_12_lp', '2000000000015', 1, 2499, 2499, 416, 312, 1500
    FROM placed
  ), registered AS (
    INSERT INTO creators (id, version, organisation_id, name, settlement_currency, registered_at)
    SELECT id, 1, 'org_bench', 'Bench', 'GBP', now() FROM creator_ids
  )
  INSERT INTO waiting_postings (order_id, creator_id, currency, paid_on)
  SELECT id, creator_id, currency, (charged_at AT TIME ZONE 'UTC')::date FROM placed`;

class CreatorOrders extends CreatorData {
  async addWaitingPostings(): Promise<void> {
    await this.client.query(insertWaitingPostings);
  }

  async areAllPosted(): Promise<boolean> {
    const { rowCount } = await this.client.query('SELECT FROM waiting_postings LIMIT 1');
    return rowCount === 0;
  }
}

export async function startCreatorReplicas(
  context: BenchContext,
  name: string,
  replicas: number,
): Promise<ReplicaSet> {
  const service = await ServiceProcess.create(context, 'creator-api', name, () => ({
    RATE_LIMIT_STATS: unlimited,
  }));
  const data = await CreatorOrders.open(service.databaseUrl);
  const creators = Array.from({ length: creatorCount }, () => uuidv7());
  await data.addCreators(creators);
  await service.start();
  await addReplicas(service, replicas);
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const queue = topologyOf(name).queue('creator-api.facts');

  const measureUntil = (prepare: () => Promise<void>, isDone: () => Promise<boolean>): Promise<Sample> =>
    measurePrepared(orderCount, service, {
      prepare,
      work: () => eventually(isDone, timeoutMs, 'the orders are posted', pollIntervalMs),
    });

  return {
    service,
    measurements: {
      'paid orders projected and posted': async () => {
        const appliedBefore = await data.countApplied();
        const publish = async () => {
          for (const order of paidOrders(creators)) {
            const message = messages.orderProcessing.make({ order }, { occurredAt: new Date() });
            channel.publish('', queue, Buffer.from(JSON.stringify(message)), { persistent: true });
          }
          await channel.waitForConfirms();
        };
        return measureUntil(publish, async () => (await data.countApplied()) === appliedBefore + orderCount);
      },
      'waiting orders posted': () =>
        measureUntil(
          () => data.addWaitingPostings(),
          () => data.areAllPosted(),
        ),
    },
    close: async () => {
      await connection.close();
      await data.close();
    },
  };
}

function paidOrders(creators: readonly string[]) {
  return Array.from({ length: orderCount }, (_, index) =>
    paidOrder(placedOrder(index, creators[index % creators.length] ?? '')),
  );
}
