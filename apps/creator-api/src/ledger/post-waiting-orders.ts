import { maxUuid, nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { allShards, shardSql } from '@fulfilment/service-host/shards';
import { useIndexPlans } from '../read-models/use-index-plans.js';
import { postOrders } from './post-orders.js';
import { settlementRateSql } from './settlement-rate.sql.js';

const groupsPerPage = 500;
const ordersPerBatch = 500;
/** If more creators than this wait to be checked, all groups are checked instead. */
const maxScheduledRanges = 100;

/** Waiting orders of one creator, currency and day of payment: all of them can be posted, or none. */
interface Group {
  readonly creator_id: string;
  readonly currency: string;
  readonly paid_on: string;
}

/** The groups after `after`, in index order, up to the last group of `lastCreator`. */
interface GroupRange {
  readonly after: Group;
  readonly lastCreator: string;
  /** Whether creators of all shards are checked, or only those in the shards of this replica. */
  readonly ofAllShards: boolean;
}

const beforeCreator = (creatorId: string): Group => ({
  creator_id: creatorId,
  currency: '',
  paid_on: '-infinity',
});
/** Returns a new object each time: `round` finds a scheduled range again by its identity. */
const wholeRange = ({ ofAllShards }: Pick<GroupRange, 'ofAllShards'>): GroupRange => ({
  after: beforeCreator(nilUuid),
  lastCreator: maxUuid,
  ofAllShards,
});

// A loose index scan, up to the creator $4: the cost depends on the number of groups, not of orders.
const nextGroupSql = (after: string): string =>
  `SELECT w.creator_id, w.currency, w.paid_on FROM waiting_postings w
   WHERE (w.creator_id, w.currency, w.paid_on) > (${after}) AND w.creator_id <= $4
   ORDER BY w.creator_id, w.currency, w.paid_on LIMIT 1`;
export const readGroups = statement(
  'postings.groups',
  `WITH RECURSIVE groups AS (
     SELECT 1 AS position, g.* FROM (${nextGroupSql('$1::uuid, $2::text, $3::date')}) g
     UNION ALL
     SELECT g.position + 1, n.* FROM groups g
     CROSS JOIN LATERAL (${nextGroupSql('g.creator_id, g.currency, g.paid_on')}) n
     WHERE g.position < ${groupsPerPage}
   )
   SELECT g.creator_id, g.currency, g.paid_on::text, ${shardSql('g.creator_id')} = ANY($5::int[])
     AND (COALESCE(g.currency = c.settlement_currency, false) OR r.rate_date IS NOT NULL) AS is_postable
   FROM groups g LEFT JOIN creators c ON c.id = g.creator_id
   LEFT JOIN ${settlementRateSql({ currency: 'g.currency', day: 'g.paid_on' })} ON true
   ORDER BY g.position`,
);

// Locks the order's row as the consumers do, so a sale and a refund of one order are posted one after the
// other.
export const lockWaitingOrders = statement(
  'postings.lock-waiting',
  `SELECT o.id, o.refunded_at FROM unnest($1::uuid[], $2::text[], $3::date[]) AS g(creator_id, currency, paid_on)
   CROSS JOIN LATERAL (
     SELECT w.order_id FROM waiting_postings w
     WHERE w.creator_id = g.creator_id AND w.currency = g.currency AND w.paid_on = g.paid_on LIMIT ${ordersPerBatch}
   ) w
   JOIN orders o ON o.id = w.order_id LIMIT ${ordersPerBatch} FOR UPDATE OF o SKIP LOCKED`,
);

interface Progress {
  /** The rest of the range, or the same range if its page has more orders to post; undefined at its end. */
  readonly rest: GroupRange | undefined;
  readonly posted: number;
}

/**
 * Posts waiting orders whose creator or exchange rate has become known. Changed creators and new rates are
 * checked at once; otherwise each round reads one page of all groups and posts those of this replica's
 * shards. Orders whose rate is still missing are not read (ADR 11, ADR 48).
 */
export class WaitingOrderPoster {
  private scheduledRanges: GroupRange[] = [];
  /** The groups that polling has not checked yet. */
  private polled = wholeRange({ ofAllShards: false });

  /** @param ownShards the shards whose creators this replica polls for */
  constructor(
    private readonly database: Database,
    private readonly ownShards: () => readonly number[] = () => allShards,
  ) {}

  /** Schedules the waiting orders of creators that were registered or changed. */
  scheduleCreators(ids: readonly string[]): void {
    const creators = ids.map((id) => ({
      after: beforeCreator(id),
      lastCreator: id,
      ofAllShards: true,
    }));
    this.scheduledRanges =
      this.scheduledRanges.length + creators.length > maxScheduledRanges
        ? [wholeRange({ ofAllShards: true })]
        : [...this.scheduledRanges, ...creators];
  }

  /**
   * Schedules all waiting orders, since rates of any day may have been loaded: first the orders of this
   * replica's shards, then the orders that other replicas have not posted yet.
   */
  scheduleAll(): void {
    this.scheduledRanges = [wholeRange({ ofAllShards: false }), wholeRange({ ofAllShards: true })];
  }

  /**
   * Handles one page of groups and at most one batch of orders. Returns whether to call it again immediately:
   * while ranges are scheduled, and while polling has posted orders and there is a further page.
   */
  async round(): Promise<boolean> {
    const [range] = this.scheduledRanges;
    const { rest, posted } = await this.advance(range ?? this.polled);
    if (range === undefined) {
      this.polled = rest ?? wholeRange({ ofAllShards: false });
    } else {
      // Replaces the range by its rest. Other ranges may have been scheduled during `advance`.
      this.scheduledRanges = this.scheduledRanges.flatMap((item) => (item === range ? (rest ?? []) : item));
    }
    return this.scheduledRanges.length > 0 || (range === undefined && posted > 0 && rest !== undefined);
  }

  private async advance(range: GroupRange): Promise<Progress> {
    const { after, lastCreator, ofAllShards } = range;
    const groups = await this.database.rows<Group & { is_postable: boolean }>(readGroups, [
      after.creator_id,
      after.currency,
      after.paid_on,
      lastCreator,
      ofAllShards ? allShards : this.ownShards(),
    ]);
    const postable = groups.filter((group) => group.is_postable);
    const posted = postable.length > 0 ? await this.post(postable) : 0;
    if (posted === ordersPerBatch) return { rest: range, posted };
    const last = groups.at(-1);
    const isLastPage = last === undefined || groups.length < groupsPerPage;
    return { rest: isLastPage ? undefined : { ...range, after: last }, posted };
  }

  private post(groups: readonly Group[]): Promise<number> {
    return this.database.transaction(async (tx) => {
      await useIndexPlans(tx);
      const orders = await tx.rows<{ id: string; refunded_at: Date | null }>(lockWaitingOrders, [
        groups.map((group) => group.creator_id),
        groups.map((group) => group.currency),
        groups.map((group) => group.paid_on),
      ]);
      await postOrders(tx, orders);
      return orders.length;
    });
  }
}

/** Posts every waiting order whose creator and exchange rate are known, in batches. */
export async function postWaitingOrders(database: Database): Promise<void> {
  const poster = new WaitingOrderPoster(database);
  poster.scheduleAll();
  let hasMore = true;
  while (hasMore) hasMore = await poster.round();
}
