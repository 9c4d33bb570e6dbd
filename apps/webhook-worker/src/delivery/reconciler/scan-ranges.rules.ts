import { maxUuid, nilUuid } from '@fulfilment/contracts';
import { allShards } from '@fulfilment/service-host/shards';

/** Subscription ids above `after`, up to and including `upTo`. */
export interface IdRange {
  readonly after: string;
  readonly upTo: string;
}

/**
 * Returns the ranges of subscription ids that the shards scan. Shards are ranges here, not hashes: the index
 * of open deliveries begins with the subscription id, so a shard reads only its part of the index.
 * @param shards in ascending order; adjacent ones share a range
 * @param bounds ids that divide the subscriptions into equal parts, in ascending order; if there are none,
 *   shard 0 has all ids
 */
export function rangesOfShards(shards: readonly number[], bounds: readonly string[]): IdRange[] {
  const ranges: IdRange[] = [];
  for (const shard of shards) {
    const [after, upTo] = [lowerBound(shard, bounds), lowerBound(shard + 1, bounds)];
    const previous = ranges.at(-1);
    if (previous?.upTo === after) ranges.splice(-1, 1, { after: previous.after, upTo });
    else if (after !== upTo) ranges.push({ after, upTo });
  }
  return ranges;
}

function lowerBound(shard: number, bounds: readonly string[]): string {
  if (shard === 0) return nilUuid;
  return bounds[Math.floor((shard * bounds.length) / allShards.length)] ?? maxUuid;
}
