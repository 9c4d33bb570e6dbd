import { messages, publicId, shardOf, topologyOf, uuidv7 } from '../index.js';

const sharded = topologyOf('test').sharded('store-api.fulfilment');
const now = { occurredAt: new Date() };
const shard = (message: object) => sharded && shardOf(sharded, Buffer.from(JSON.stringify(message)));
const shardsOfLane = (name: string) => sharded?.lanes.find((lane) => lane.name === name)?.shards ?? [];
const newOrder = () => publicId('ord', uuidv7());
const newProduct = () => publicId('prod', uuidv7());
const cancelled = (order_id: string) => messages.fulfilmentCancelled.make({ order_id, reason: 'x' }, now);

describe('shardOf', () => {
  it('puts all fulfilment events of an order into one shard', () => {
    const order_id = newOrder();
    const tracking = { carrier: 'x', tracking_number: 'x', tracking_url: 'https://track.example/x' };
    const shards = [
      messages.fulfilmentShipped.make({ order_id, ...tracking }, now),
      messages.fulfilmentTrackingCorrected.make({ order_id, ...tracking }, now),
      messages.fulfilmentDelivered.make({ order_id }, now),
      cancelled(order_id),
    ].map(shard);
    expect(new Set(shards).size).toBe(1);
    expect(shardsOfLane('orders')).toContain(shards[0]);
  });

  it('puts stock counts and adjustments of a product into one shard of the lane of stock', () => {
    const sku = newProduct();
    const shardOfCount = shard(messages.fulfilmentStockSet.make({ sku, quantity: 1 }, now));
    expect(shard(messages.fulfilmentStockAdjusted.make({ sku, delta: 1 }, now))).toBe(shardOfCount);
    expect(shardsOfLane('stock')).toContain(shardOfCount);
  });

  it('uses all shards of a lane', () => {
    // With 200 keys, the probability that one of 8 shards gets none is 2e-11.
    const ofOrders = Array.from({ length: 200 }, () => shard(cancelled(newOrder())));
    expect(new Set(ofOrders)).toEqual(new Set(shardsOfLane('orders')));
    const ofProducts = Array.from({ length: 200 }, () =>
      shard(messages.fulfilmentStockSet.make({ sku: newProduct(), quantity: 1 }, now)),
    );
    expect(new Set(ofProducts)).toEqual(new Set(shardsOfLane('stock')));
  });

  it('puts releases, withdrawals and approvals into one shard, since they depend on each other', () => {
    const changes = [
      messages.fulfilmentProductReleased.make({ sku: newProduct() }, now),
      messages.fulfilmentProductWithdrawn.make({ sku: newProduct() }, now),
      messages.catalogueReleaseApproved.make({ release_id: newProduct() }, now),
    ].map(shard);
    expect(new Set(changes).size).toBe(1);
    expect(shardsOfLane('stock')).toContain(changes[0]);
  });

  it.each(['{', 'null', '{"type":1,"data":{"order_id":{}}}', '{"type":"fulfilment.other"}'])(
    'puts %s, without a known type or key, into the lane of all other types',
    (content) => {
      expect(shardsOfLane('orders')).toContain(sharded && shardOf(sharded, Buffer.from(content)));
    },
  );
});
