import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import pg from 'pg';
import { listenAndPrintPort } from '../listen-and-print-port.ts';

// The baseline, in a separate process: node:http and pg with prepared statements. It writes the rows that
// store-api writes, and its responses have the same size. It writes and settles an order in two transactions
// of several statements, or at /orders-at-once in one statement; store-api uses one statement for each of the
// two (ADR 45). It omits tokens, quotas, checks, published messages, logs, and the stock movement and message
// of a limited edition. Each order has 3 pieces for 2499 each, and shipping for 350: 7847 in total.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** The pool, or the connection of a transaction. */
interface Client {
  query(config: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<{ rows: Record<string, unknown>[] }>;
}
const run = async (client: Client, name: string, text: string, values: unknown[]) =>
  (await client.query({ name, text, values })).rows;

async function inTransaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

const readOrder = `SELECT id, status, total_amount, currency, item_count, created_at, updated_at, platform, store_id, external_order_id,
    shipping_amount, billing_method, payment_status, charge_amount, charged_at, packages, shipping_rate_id, tracking_updated_at, shipping_address,
    (SELECT json_agg(json_build_object('product_id', i.product_id, 'title', i.title, 'quantity', i.quantity,
                                       'unit_amount', i.unit_amount) ORDER BY i.position)
     FROM order_items i WHERE i.order_id = orders.id) AS items
  FROM orders WHERE id = $1 AND creator_id = $2`;
const listReleases = `SELECT r.id, r.name, r.artist_name, r.additional_artists, r.release_date, r.cover_image_url, r.created_at,
    p.product_types, p.statuses, p.price_min, p.price_max
  FROM (SELECT * FROM releases WHERE creator_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2) AS r
  LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT product_type) AS product_types, array_agg(DISTINCT status) AS statuses,
           min(price_gbp) FILTER (WHERE status = 'available') AS price_min, max(price_gbp) FILTER (WHERE status = 'available') AS price_max
    FROM products WHERE release_id = r.id) AS p ON true
  ORDER BY r.created_at DESC, r.id DESC`;
const claimKey = `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, lease_until)
  VALUES ($1, 'app', $2, $3, $4, now() + interval '5 seconds') ON CONFLICT DO NOTHING`;
const attachOrder = `UPDATE idempotency_keys SET order_id = $3, lease_until = now() + interval '12 seconds'
  WHERE creator_id = $1 AND client_id = 'app' AND key = $2 AND order_id IS NULL`;
const readBilling = 'SELECT payment_method, payment_terms_accepted FROM creators WHERE id = $1';
const readProducts = `SELECT p.id, p.release_id, r.name, p.title, p.product_type, p.status, p.royalty_rate, p.price_gbp FROM products p
  JOIN releases r ON r.id = p.release_id JOIN product_types t ON t.product_type = p.product_type
  WHERE p.id = ANY($1::uuid[]) AND p.creator_id = $2`;
const insertOrder = `WITH placed AS (
    INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                        shipping_rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, resume_at)
    VALUES ($1, $2, 'app', 'pending', 'api', 'app', $1::uuid::text, 'GBP', 7847, 3, $3, 350, $4, 'GB', 'card', 'pending', 7847, now() + interval '15 seconds')
    RETURNING *
  ), items AS (
    INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate)
    SELECT $1, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate
    FROM json_to_recordset($5::json) AS item (position int, id uuid, product_id uuid, release_id uuid, title text, release_title text,
                                              product_type text, quantity int, unit_amount bigint, royalty_rate int)
  ), charge AS (
    INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status) VALUES ($6, $1, 1, 7847, 'GBP', 'pm_ok', 'pending')
  ) SELECT * FROM placed`;
const insertMessage = 'INSERT INTO outbox (message_id, type, body) VALUES ($1, $2, $3)';
const insertCharge = `INSERT INTO sandbox_charges (idempotency_key, amount, currency, payment_method, outcome) VALUES ($1, 7847, 'GBP', 'pm_ok', 'succeeded')
  ON CONFLICT DO NOTHING`;
const settleOrder = `WITH charge AS (
    UPDATE charges SET status = 'succeeded', settled_at = now() WHERE id = $1 AND status = 'pending' RETURNING order_id
  ) UPDATE orders SET status = 'processing', payment_status = 'paid', charged_at = now(), resume_at = NULL, version = version + 1, updated_at = now()
    FROM charge WHERE orders.id = charge.order_id AND orders.status = 'pending' RETURNING orders.*`;
const readItems = 'SELECT * FROM order_items WHERE order_id = $1 ORDER BY position';
const storeResponse = 'UPDATE idempotency_keys SET response = $2 WHERE order_id = $1 AND response IS NULL';
/** All rows of a paid order, in one statement and one commit. */
const insertPaidOrder = `WITH key AS (
    INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, lease_until, order_id, response)
    VALUES ($2, 'app', $7, $8, $1, now(), $1, $9)
  ), placed AS (
    INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                        shipping_rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, charged_at)
    VALUES ($1, $2, 'app', 'processing', 'api', 'app', $1::uuid::text, 'GBP', 7847, 3, $3, 350, $4, 'GB', 'card', 'paid', 7847, now())
    RETURNING *
  ), items AS (
    INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate)
    SELECT $1, item.position, item.id, p.id, p.release_id, p.title, p.title, p.product_type, item.quantity, item.unit_amount, p.royalty_rate
    FROM json_to_recordset($5::json) AS item (position int, id uuid, product_id uuid, quantity int, unit_amount bigint)
    JOIN products p ON p.id = item.product_id
  ), charge AS (
    INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, settled_at)
    VALUES ($6, $1, 1, 7847, 'GBP', 'pm_ok', 'succeeded', now())
  ), sandbox AS (
    INSERT INTO sandbox_charges (idempotency_key, amount, currency, payment_method, outcome)
    VALUES ($6::uuid::text, 7847, 'GBP', 'pm_ok', 'succeeded')
  )
  INSERT INTO outbox (message_id, type, body)
  SELECT message.id, message.type, jsonb_build_object('order', to_jsonb(placed), 'lines', $5::jsonb)
  FROM placed, unnest($10::uuid[], $11::text[]) AS message (id, type)`;
const takeStock = `UPDATE products SET quantity = quantity - $2, version = version + 1, updated_at = now()
  WHERE id = $1 AND quantity >= $2 RETURNING *`;

interface OrderRequest {
  readonly creator: string;
  readonly product: string;
  readonly rate: string;
  readonly address: object;
  readonly key: string;
  /** Pieces to take from the stock of a limited edition, independent of the lines. */
  readonly takenPieces?: number;
}

async function placeOrder({
  creator,
  product,
  rate,
  address,
  key,
  takenPieces,
}: OrderRequest): Promise<object> {
  const [orderId, chargeId] = [randomUUID(), randomUUID()];
  await run(pool, 'claim', claimKey, [creator, key, Buffer.alloc(32), orderId]);
  await inTransaction(async (client) => {
    await run(client, 'billing', readBilling, [creator]);
    const [productRow] = await run(client, 'products', readProducts, [[product], creator]);
    await run(client, 'attach', attachOrder, [creator, key, orderId]);
    const lines = [1, 2].map((quantity, position) => ({
      position,
      id: randomUUID(),
      product_id: product,
      release_id: productRow?.['release_id'],
      title: productRow?.['title'],
      release_title: productRow?.['name'],
      product_type: productRow?.['product_type'],
      quantity,
      unit_amount: 2499,
      royalty_rate: 1500,
    }));
    const values = [orderId, creator, rate, JSON.stringify(address), JSON.stringify(lines), chargeId];
    const [placed] = await run(client, 'place-order', insertOrder, values);
    await run(client, 'message', insertMessage, [
      randomUUID(),
      'order.created',
      JSON.stringify({ order: placed, lines }),
    ]);
    if (takenPieces !== undefined) await run(client, 'take-stock', takeStock, [product, takenPieces]);
  });
  await run(pool, 'charge', insertCharge, [chargeId]);
  await inTransaction(async (client) => {
    const [settled] = await run(client, 'settle', settleOrder, [chargeId]);
    const lines = await run(client, 'items', readItems, [orderId]);
    await run(client, 'message', insertMessage, [
      randomUUID(),
      'order.processing',
      JSON.stringify({ order: settled, lines }),
    ]);
    await run(client, 'response', storeResponse, [orderId, { id: orderId, status: 'processing' }]);
  });
  return { id: orderId, status: 'processing' };
}

/** Writes all rows of a paid order with one statement. */
async function placeOrderAtOnce(request: OrderRequest): Promise<object> {
  const { creator, product, rate, address, key } = request;
  const orderId = randomUUID();
  const placed = { id: orderId, status: 'processing' };
  const lines = [1, 2].map((quantity, position) => ({
    position,
    id: randomUUID(),
    product_id: product,
    quantity,
    unit_amount: 2499,
  }));
  await run(pool, 'place-at-once', insertPaidOrder, [
    orderId,
    creator,
    rate,
    JSON.stringify(address),
    JSON.stringify(lines),
    randomUUID(),
    key,
    Buffer.alloc(32),
    placed,
    [randomUUID(), randomUUID()],
    ['order.created', 'order.processing'],
  ]);
  return placed;
}

function isOrderRequest(body: unknown): body is OrderRequest {
  return typeof body === 'object' && body !== null && 'product' in body;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return JSON.parse(text);
}

async function respond(request: IncomingMessage): Promise<[status: number, body: unknown]> {
  const [, resource = '', creator = '', id = ''] = (request.url ?? '').split('/');
  if (resource === 'releases')
    return [200, { data: await run(pool, 'releases', listReleases, [creator, 26]) }]; // a page and one more
  if (request.method === 'GET') return [200, (await run(pool, 'order', readOrder, [id, creator]))[0]];
  const body = await readBody(request);
  if (!isOrderRequest(body)) return [400, {}];
  if (resource === 'stock') return [201, (await run(pool, 'take-stock', takeStock, [body.product, 1]))[0]];
  return [201, await (resource === 'orders-at-once' ? placeOrderAtOnce(body) : placeOrder(body))];
}

const server = createServer((request, response) => {
  respond(request).then(
    ([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end(String(error));
    },
  );
});
await listenAndPrintPort(server);
