import { connect, type ConsumeMessage } from 'amqplib';
import pg from 'pg';
import { z } from 'zod';

// The baseline, in a separate process: amqplib and pg, one transaction for each batch of messages. It writes
// the same rows as creator-api, durably: inbox, orders, lines, releases, counts, postings, monthly sums and
// breakdowns, with sums and counts also by app. It does not validate, log, or handle versions, exchange rates
// and repeated or out-of-order messages. Prints a line when it begins to consume.
const batchSize = 200;

/** The members of an order snapshot that the consumer uses. */
interface Order {
  readonly id: string;
  readonly creator_id: string;
  readonly client_id: string;
  readonly version: number;
  readonly placed_at: string;
  readonly currency: string;
  readonly country_code: string;
  readonly source: { readonly platform: string };
  readonly item_count: number;
  readonly payment: { readonly charged_at: string | null };
  readonly items: readonly {
    readonly id: string;
    readonly release_id: string;
    readonly release_title: string;
    readonly product_type: string;
    readonly ean: string | null;
    readonly quantity: number;
    readonly unit_amount: number;
    readonly royalty_rate: number;
  }[];
}

const insertInbox = `INSERT INTO inbox (message_id, queue, outcome) SELECT id, 'bare', 'applied' FROM unnest($1::uuid[]) AS id`;
const insertOrders = `INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount,
    royalty_amount, item_count, country_code, platform, client_id)
  SELECT id, creator_id, version, placed_at, currency, 'pending', 'pending', '', gross, royalty, item_count, country_code, platform, client_id
  FROM jsonb_to_recordset($1::jsonb) AS o(id uuid, creator_id uuid, version int, placed_at timestamptz, currency text, gross bigint, royalty bigint,
    item_count bigint, country_code text, platform text, client_id text)`;
const insertItems = `INSERT INTO order_items SELECT i.* FROM jsonb_to_recordset($1::jsonb) AS i(order_id uuid, position int, id uuid, creator_id uuid, release_id uuid,
    release_title text, product_type text, ean text, quantity int, unit_amount bigint, total_amount bigint, vat_amount bigint, royalty_amount bigint, royalty_rate int)`;
const insertReleases = `INSERT INTO ordered_releases SELECT DISTINCT release_id, creator_id
  FROM jsonb_to_recordset($1::jsonb) AS i(release_id uuid, creator_id uuid) ON CONFLICT (release_id) DO NOTHING`;
const addCountsByApp = `INSERT INTO order_counts_by_app AS c (creator_id, client_id, placed_on, payment_status, dispatch_status, orders)
  SELECT m.* FROM jsonb_to_recordset($1::jsonb) AS m(creator_id uuid, client_id text, placed_on date, payment_status text, dispatch_status text, orders bigint)
  ON CONFLICT (creator_id, client_id, placed_on, payment_status, dispatch_status) DO UPDATE SET orders = c.orders + excluded.orders`;
const addCounts = `INSERT INTO order_counts AS c SELECT m.* FROM jsonb_to_recordset($1::jsonb) AS m(creator_id uuid, placed_on date, payment_status text,
    dispatch_status text, orders bigint)
  ON CONFLICT (creator_id, placed_on, payment_status, dispatch_status) DO UPDATE SET orders = c.orders + excluded.orders`;
const updatePaidOrders = `UPDATE orders SET version = o.version, payment_status = 'paid', dispatch_status = 'in_production', charged_at = o.charged_at
  FROM jsonb_to_recordset($1::jsonb) AS o(id uuid, version int, charged_at timestamptz) WHERE orders.id = o.id`;
const addSums =
  'units = m.units + excluded.units, revenue = m.revenue + excluded.revenue, royalties = m.royalties + excluded.royalties';
const amounts = 'sum(units) AS units, sum(settled_revenue) AS revenue, sum(settled_royalty) AS royalties';
const breakdownColumns = "creator_id, 'GBP', period, release_id, product_type, country_code, platform";
const insertPostings = `WITH line AS MATERIALIZED (
    SELECT *, to_char(charged_at AT TIME ZONE 'UTC', 'YYYY-MM') AS period, quantity AS units, total_amount AS settled_revenue,
           royalty_amount AS settled_royalty
    FROM jsonb_to_recordset($1::jsonb) AS i(id uuid, order_id uuid, creator_id uuid, client_id text, charged_at timestamptz, release_id uuid, ean text,
           quantity bigint, total_amount bigint, vat_amount bigint, royalty_amount bigint, product_type text, country_code text, platform text)
  ), posted AS (
    INSERT INTO ledger (item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue, vat, royalty,
                        settlement_currency, settled_revenue, settled_vat, settled_royalty)
    SELECT id, 'sale', order_id, creator_id, charged_at, period, release_id, ean, quantity, 'GBP', total_amount, vat_amount, royalty_amount, 'GBP',
           total_amount, vat_amount, royalty_amount
    FROM line
  ), months AS (
    INSERT INTO monthly_statistics AS m (creator_id, period, currency, release_id, ean, units, revenue, royalties)
    SELECT creator_id, period, 'GBP', release_id, ean, ${amounts} FROM line GROUP BY 1, 2, 4, 5
    ON CONFLICT (creator_id, period, currency, release_id, ean) DO UPDATE SET ${addSums}
  ), apps AS (
    INSERT INTO monthly_app_breakdown AS m (creator_id, currency, period, release_id, product_type, country_code, platform, client_id, units, revenue, royalties)
    SELECT ${breakdownColumns}, client_id, ${amounts} FROM line GROUP BY 1, 3, 4, 5, 6, 7, 8
    ON CONFLICT (creator_id, currency, client_id, period, release_id, product_type, country_code, platform) DO UPDATE SET ${addSums}
  )
  INSERT INTO monthly_breakdown AS m (creator_id, currency, period, release_id, product_type, country_code, platform, units, revenue, royalties)
  SELECT ${breakdownColumns}, ${amounts} FROM line GROUP BY 1, 3, 4, 5, 6, 7
  ON CONFLICT (creator_id, currency, period, release_id, product_type, country_code, platform) DO UPDATE SET ${addSums}`;

function linesOf(order: Order) {
  return order.items.map((item, position) => {
    const total = item.quantity * item.unit_amount;
    const vat = Math.round(total / 6); // the price contains 20 % VAT
    return {
      ...item,
      order_id: order.id,
      position,
      creator_id: order.creator_id,
      client_id: order.client_id,
      country_code: order.country_code,
      platform: order.source.platform,
      charged_at: order.payment.charged_at,
      ean: item.ean ?? '',
      total_amount: total,
      vat_amount: vat,
      royalty_amount: Math.round(((total - vat) * item.royalty_rate) / 10_000),
    };
  });
}

/** Changes of the counts by creator, day and app. @param by 1 adds the orders, -1 removes them */
function countChanges(
  orders: readonly Order[],
  { payment, dispatch, by }: { payment: string; dispatch: string; by: 1 | -1 },
) {
  const days = Map.groupBy(
    orders,
    (order) => `${order.creator_id} ${order.placed_at.slice(0, 10)} ${order.client_id}`,
  );
  return [...days].map(([key, ordersOfDay]) => {
    const [creatorId, day, clientId] = key.split(' ');
    return {
      creator_id: creatorId,
      client_id: clientId,
      placed_on: day,
      payment_status: payment,
      dispatch_status: dispatch,
      orders: by * ordersOfDay.length,
    };
  });
}

const queue = process.env.BENCH_QUEUE ?? '';
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const run = (name: string, text: string, parameter: unknown) =>
  client.query({ name, text, values: [parameter] });

const connection = await connect(process.env.RABBITMQ_URL ?? '');
const channel = await connection.createChannel();
await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
await channel.prefetch(2 * batchSize);
let waiting: ConsumeMessage[] = [];
let isWorking = false;

/** Applies all waiting messages, in batches. */
async function applyWaiting(): Promise<void> {
  isWorking = true;
  await new Promise((resolve) => setImmediate(resolve)); // collects the messages that arrive together
  while (waiting.length > 0) {
    const batch = waiting.slice(0, batchSize);
    waiting = waiting.slice(batchSize);
    await apply(batch.map((raw): unknown => JSON.parse(raw.content.toString())).map(withoutValidation));
    const last = batch.at(-1);
    if (last !== undefined) channel.ack(last, true);
  }
  isWorking = false;
}

interface OrderMessage {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly order: Order };
}

/** Only changes the type: `z.custom` without a function accepts every value. */
const withoutValidation = (message: unknown): OrderMessage => z.custom<OrderMessage>().parse(message);

/**
 * Writes the same changes to the counts with and without app. This works because all messages have one app:
 * an upsert cannot change the count of a creator, day and status twice.
 */
async function writeCounts(changes: readonly object[]): Promise<void> {
  await run('count', addCounts, JSON.stringify(changes));
  await run('count-by-app', addCountsByApp, JSON.stringify(changes));
}

async function apply(received: readonly OrderMessage[]): Promise<void> {
  const created = received.flatMap(({ type, data }) => (type === 'order.created' ? [data.order] : []));
  const paid = received.flatMap(({ type, data }) => (type === 'order.processing' ? [data.order] : []));
  await client.query('BEGIN');
  await run(
    'inbox',
    insertInbox,
    received.map(({ id }) => id),
  );
  if (created.length > 0) {
    const withLines = created.map((order) => ({ order, lines: linesOf(order) }));
    const orders = withLines.map(({ order, lines }) => ({
      ...order,
      platform: order.source.platform,
      items: undefined,
      gross: lines.reduce((sum, line) => sum + line.total_amount, 0),
      royalty: lines.reduce((sum, line) => sum + line.royalty_amount, 0),
    }));
    await run('orders', insertOrders, JSON.stringify(orders));
    const allLines = withLines.flatMap(({ lines }) => lines);
    await run('items', insertItems, JSON.stringify(allLines));
    await run('releases', insertReleases, JSON.stringify(allLines));
    await writeCounts(countChanges(created, { payment: 'pending', dispatch: 'pending', by: 1 }));
  }
  if (paid.length > 0) {
    const payments = paid.map(({ id, version, payment }) => ({
      id,
      version,
      charged_at: payment.charged_at,
    }));
    await run('pay', updatePaidOrders, JSON.stringify(payments));
    await writeCounts([
      ...countChanges(paid, { payment: 'pending', dispatch: 'pending', by: -1 }),
      ...countChanges(paid, { payment: 'paid', dispatch: 'in_production', by: 1 }),
    ]);
    await run('post', insertPostings, JSON.stringify(paid.flatMap(linesOf)));
  }
  await client.query('COMMIT');
}

await channel.consume(queue, (raw) => {
  if (raw === null) return;
  waiting.push(raw);
  if (!isWorking) void applyWaiting();
});
console.log('Consuming.');
