import { type Database, statement } from '@fulfilment/database';
import { planAnew } from '../plan-anew.js';
import { bookOrders } from './book-orders.js';
import { rateOfPayment } from './rate-of-payment.js';

const groupsPerPage = 500;
const ordersPerBatch = 500;
/** Above so many creators that have just come, all groups are gone through. */
const maxScopes = 100;

/** Orders that wait for the same thing: their creator, or the rates of a day. */
interface Group {
  readonly creator_id: string;
  readonly currency: string;
  readonly paid_on: string;
}

/** A span of groups, in the order of the index. */
interface Scope {
  readonly after: Group;
  readonly lastCreator: string;
}

const firstUuid = '00000000-0000-0000-0000-000000000000';
const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const before = (creatorId: string): Group => ({
  creator_id: creatorId,
  currency: '',
  paid_on: '-infinity',
});
const everything = (): Scope => ({ after: before(firstUuid), lastCreator: lastUuid });

// Steps from group to group by the index: what it costs depends on the groups, not on the orders in them.
const nextGroup = (after: string): string =>
  `SELECT w.creator_id, w.currency, w.paid_on FROM waiting_bookings w
   WHERE (w.creator_id, w.currency, w.paid_on) > (${after}) AND w.creator_id <= $4
   ORDER BY w.creator_id, w.currency, w.paid_on LIMIT 1`;
export const readGroups = statement(
  'bookings.groups',
  `WITH RECURSIVE groups AS (
     SELECT 1 AS position, g.* FROM (${nextGroup('$1::uuid, $2::text, $3::date')}) g
     UNION ALL
     SELECT g.position + 1, n.* FROM groups g
     CROSS JOIN LATERAL (${nextGroup('g.creator_id, g.currency, g.paid_on')}) n
     WHERE g.position < ${groupsPerPage}
   )
   SELECT g.creator_id, g.currency, g.paid_on::text,
     COALESCE(g.currency = c.settlement_currency, false) OR r.rate_date IS NOT NULL AS ready
   FROM groups g LEFT JOIN creators c ON c.id = g.creator_id
   LEFT JOIN ${rateOfPayment({ currency: 'g.currency', day: 'g.paid_on' })} ON true
   ORDER BY g.position`,
);

// The order's row is locked, as when a message changes it: a booking and a refund of one order never pass each other.
export const takeOrders = statement(
  'bookings.take',
  `SELECT o.id FROM unnest($1::uuid[], $2::text[], $3::date[]) AS g(creator_id, currency, paid_on)
   CROSS JOIN LATERAL (
     SELECT w.order_id FROM waiting_bookings w
     WHERE w.creator_id = g.creator_id AND w.currency = g.currency AND w.paid_on = g.paid_on LIMIT ${ordersPerBatch}
   ) w
   JOIN orders o ON o.id = w.order_id LIMIT ${ordersPerBatch} FOR UPDATE OF o SKIP LOCKED`,
);

// Written by a replica of an older version.
const fillInGroups = statement(
  'bookings.fill_in_groups',
  `UPDATE waiting_bookings w
   SET creator_id = o.creator_id, currency = o.currency, paid_on = (o.charged_at AT TIME ZONE 'UTC')::date
   FROM (SELECT order_id FROM waiting_bookings WHERE creator_id IS NULL LIMIT ${ordersPerBatch}) u
   JOIN orders o ON o.id = u.order_id
   WHERE w.order_id = u.order_id AND o.charged_at IS NOT NULL`,
);

/**
 * Books the orders that waited for what is known now: at once what a creator or new rates were missing for, and a page of all
 * others with each round. An order whose rate is missing is not read until the rate is there.
 */
export class WaitingBookings {
  private scopes: Scope[] = [];
  private poll = everything();

  constructor(private readonly database: Database) {}

  /** These creators were registered or changed. */
  creatorsCame(ids: readonly string[]): void {
    const creators = ids.map((id) => ({ after: before(id), lastCreator: id }));
    this.scopes =
      this.scopes.length + creators.length > maxScopes ? [everything()] : [...this.scopes, ...creators];
  }

  /** Rates were loaded, of whatever days. */
  ratesCame(): void {
    this.scopes = [everything()];
  }

  /** One page of groups, and at most one batch of orders. Returns whether there is more to do at once. */
  async round(): Promise<boolean> {
    await this.database.run(fillInGroups);
    const [scope] = this.scopes;
    const rest = await this.advance(scope ?? this.poll);
    if (scope === undefined) this.poll = rest ?? everything();
    else this.scopes = this.scopes.flatMap((each) => (each === scope ? (rest ?? []) : each));
    return this.scopes.length > 0;
  }

  /** Returns what is left of the scope; the same one when its page has more to book. */
  private async advance(scope: Scope): Promise<Scope | undefined> {
    const { after, lastCreator } = scope;
    const groups = await this.database.rows<Group & { ready: boolean }>(readGroups, [
      after.creator_id,
      after.currency,
      after.paid_on,
      lastCreator,
    ]);
    const ready = groups.filter((group) => group.ready);
    if (ready.length > 0 && (await this.book(ready)) === ordersPerBatch) return scope;
    const last = groups.at(-1);
    return last === undefined || groups.length < groupsPerPage ? undefined : { after: last, lastCreator };
  }

  private book(groups: readonly Group[]): Promise<number> {
    return this.database.transaction(async (tx) => {
      await planAnew(tx);
      const orders = await tx.rows<{ id: string }>(takeOrders, [
        groups.map((group) => group.creator_id),
        groups.map((group) => group.currency),
        groups.map((group) => group.paid_on),
      ]);
      await bookOrders(
        tx,
        orders.map((order) => order.id),
      );
      return orders.length;
    });
  }
}

/** Books every order that waited for what is known now, in batches. */
export async function bookWaiting(database: Database): Promise<void> {
  const waiting = new WaitingBookings(database);
  waiting.ratesCame();
  while (await waiting.round());
}
