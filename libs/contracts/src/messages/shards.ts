import type { ShardedTopology } from './queues.js';

const fnvOffsetBasis = 0x811c9dc5;
const fnvPrime = 0x01000193;

/**
 * Returns the shard of a message. The key of a fulfilment event is its order; that of a stock count or
 * adjustment, its product. Messages with the same key have the same shard. Other messages
 * (`fulfilment.product_released`, `fulfilment.product_withdrawn`, `catalogue.*`) have an empty key, so they
 * share one shard of their lane: they are rare and depend on each other.
 * @param content the message as it was sent; an unreadable one has a shard too, whose consumer rejects it
 */
export function shardOf({ lanes }: ShardedTopology, content: Buffer): string {
  const { type, key } = routeOf(content);
  const laneOfOtherTypes = lanes.find(({ types }) => types.length === 0);
  const lane = lanes.find(({ types }) => types.some((pattern) => matches(pattern, type))) ?? laneOfOtherTypes;
  const shard = lane?.shards[hash(key) % lane.shards.length];
  if (shard === undefined) throw new Error('A sharded queue has no lane for all other types.');
  return shard;
}

function routeOf(content: Buffer): { readonly type: string; readonly key: string } {
  try {
    const message: unknown = JSON.parse(content.toString());
    const type = textOf(message, 'type');
    const keyName = type.startsWith('fulfilment.stock_') ? 'sku' : 'order_id';
    return { type, key: textOf(member(message, 'data'), keyName) };
  } catch {
    return { type: '', key: '' };
  }
}

/** @param pattern a type, or the beginning of types followed by `*` */
function matches(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** Returns the 32-bit FNV-1a hash, over UTF-16 code units instead of bytes, since keys are ASCII. */
function hash(key: string): number {
  let value = fnvOffsetBasis;
  for (let index = 0; index < key.length; index += 1)
    value = Math.imul(value ^ key.charCodeAt(index), fnvPrime);
  return value >>> 0;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown, name: string): string {
  const text = member(value, name);
  return typeof text === 'string' ? text : '';
}
