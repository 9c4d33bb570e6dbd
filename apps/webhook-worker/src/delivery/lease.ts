import { Database, BatchLoader, statement } from '@fulfilment/database';
import { uuidv7 } from '@fulfilment/contracts';
import { isOutage } from '@fulfilment/error-envelope';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../config.js';
import { cover, type DaySpan } from './day-span.rules.js';
import type { DeliveryStatus, Trigger } from './delivery.rules.js';
import { deliveriesAtATime, failingAfterFailures, type Lane } from './lanes.rules.js';
import { LostClaims } from './lost-claims.js';
import { accessHasEnded } from '../subscriptions/ended-access.js';

/** A delivery that is this process's to attempt, until its lease ends. */
export interface Leased {
  readonly day: string;
  readonly id: string;
  readonly subscriptionId: string;
  readonly event: string;
  readonly test: boolean;
  readonly trigger: Trigger;
  /** The attempt's, from 1. */
  readonly number: number;
  /** It is the first attempt, of a delivery that was not held, recovered or asked for by hand before. */
  readonly first: boolean;
  readonly scheduleStep: number;
  /** The status that a retry by hand found; null when this is no such retry. */
  readonly priorStatus: Exclude<DeliveryStatus, 'in_flight'> | null;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  readonly body: Buffer;
  readonly url: string;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly token: string;
  /** On performance.now()'s clock. An attempt that could not end by then is not begun. */
  readonly leaseEndsAtMs: number;
}

/** What is due of a subscription, the oldest first. */
const dueOf = (subscription: string, condition = ''): string =>
  `SELECT day, id, status FROM webhook_deliveries
   WHERE subscription_id = ${subscription}.id AND status IN ('pending', 'retrying') AND next_attempt_at <= now() ${condition}
     AND (trigger IN ('manual', 'test') OR ${subscription}.status = 'active')
   ORDER BY next_attempt_at`;

// Each subscription's share is found in the index of open deliveries, and its rows by their key. No subscription is named twice, since a process claims
// once at a time for each: SKIP LOCKED does not skip what its own statement has locked. The days are parameters, by which PostgreSQL leaves out the
// partitions of other days as it starts the plan: with a month of them, opening all was half of the work.
const claim = statement(
  'deliveries.claim',
  `WITH wanted AS MATERIALIZED (
     SELECT w.index, s.id, s.status, s.url, s.secret,
       CASE WHEN s.previous_secret_until > now() THEN s.previous_secret END AS previous_secret,
       least(w.most, greatest(0, -w.under_way + CASE WHEN s.consecutive_failures >= ${failingAfterFailures} THEN ${deliveriesAtATime.failing}
            WHEN s.last_delivery_at IS NULL THEN ${deliveriesAtATime.unknown}
            WHEN s.lane = 'slow' THEN ${deliveriesAtATime.slow} ELSE ${deliveriesAtATime.healthy} END)) AS width, s.lane
     FROM unnest($1::uuid[], $2::int[], $5::int[]) WITH ORDINALITY AS w(id, most, under_way, index)
     JOIN webhook_subscriptions s ON s.id = w.id AND s.deleted_at IS NULL AND NOT ${accessHasEnded('s')}
   ), due AS MATERIALIZED (
     SELECT wanted.index, taken.* FROM wanted CROSS JOIN LATERAL (
       ${dueOf('wanted', 'AND day BETWEEN $6 AND $7')} LIMIT wanted.width FOR UPDATE SKIP LOCKED) AS taken
   )
   UPDATE webhook_deliveries d SET status = 'in_flight', next_attempt_at = NULL, attempt_count = d.attempt_count + 1,
     attempt_started_at = now(), lease_token = $3, lease_until = now() + $4 * interval '1 millisecond'
   FROM due JOIN wanted USING (index), webhook_events e
   WHERE d.day = due.day AND d.id = due.id AND e.day = due.day AND e.id = d.event_id AND e.api_version = d.api_version
     AND d.day BETWEEN $6 AND $7 AND e.day BETWEEN $6 AND $7
   RETURNING due.index::int - 1 AS index, wanted.width, wanted.lane, d.day, d.id, d.subscription_id AS "subscriptionId", d.event, d.test,
     d.trigger, d.attempt_count AS number,
     d.attempt_count = 1 AND d.trigger = 'auto' AND due.status = 'pending' AS first, d.schedule_step AS "scheduleStep", d.prior_status AS "priorStatus",
     e.occurred_at AS "occurredAt", e.traceparent, e.body, wanted.url, wanted.secret, wanted.previous_secret AS "previousSecret"`,
);

/** As many as a turn sends before the subscription is queued again; the next turn searches anew. */
const mostLookedAt = 64;
const findDays = statement(
  'deliveries.days-due',
  `SELECT w.index::int - 1 AS index, min(due.day) AS "from", max(due.day) AS "to", count(*) = ${mostLookedAt} AS more
   FROM unnest($1::uuid[]) WITH ORDINALITY AS w(id, index)
   JOIN webhook_subscriptions s ON s.id = w.id AND s.deleted_at IS NULL AND NOT ${accessHasEnded('s')}
   CROSS JOIN LATERAL (${dueOf('s')} LIMIT ${mostLookedAt}) AS due
   GROUP BY w.index`,
);

const subscriptionsInOne = 25;
const statementsAtOnce = 2;

export interface Claim {
  readonly deliveries: readonly Leased[];
  /** Whether more may be due now: as many were taken as the receiver gets, or as there were slots. */
  readonly full: boolean;
  /** The lane the subscription belongs in now; undefined when nothing was due. */
  readonly lane: Lane | undefined;
  /** Where to look next; undefined when that has to be found out again. */
  readonly days: DaySpan | undefined;
}

/** One turn's part of a claim: a statement claims for many. */
export interface ClaimRequest {
  readonly subscriptionId: string;
  /** Slots at its host. */
  readonly most: number;
  /** Attempts this process has under way to it already. */
  readonly underWay: number;
  /** Where to look for what is due; undefined when that has to be found out. */
  readonly days: DaySpan | undefined;
}

type DatedRequest = ClaimRequest & { readonly days: DaySpan };
type Claimed = Omit<Claim, 'days'>;
const nothing = { deliveries: [], full: false, lane: undefined } as const;

interface ClaimedRow extends Omit<Leased, 'token' | 'leaseEndsAtMs'> {
  readonly index: number;
  readonly width: number;
  readonly lane: Lane;
}

/**
 * Deliveries are taken by a lease in PostgreSQL: it, and not a lock in Redis, decides which process makes an attempt. A process that dies, or stands
 * still for longer than its leases, loses them; the reconciler frees the deliveries.
 */
@Injectable()
export class Lease {
  private readonly leaseMs: number;
  private readonly lost: LostClaims;
  private readonly days: BatchLoader<string, DaySpan>;
  private readonly claims: BatchLoader<DatedRequest, Claimed>;

  constructor(
    @Inject(DELIVERY_DATABASE) private readonly database: Database,
    @Inject(CONFIG) config: Pick<WebhookWorkerSettings, 'WEBHOOK_TIMEOUT_MS' | 'WEBHOOK_LEASE_SLACK_MS'>,
  ) {
    this.leaseMs = config.WEBHOOK_TIMEOUT_MS + config.WEBHOOK_LEASE_SLACK_MS;
    this.lost = new LostClaims(database);
    const gathering = { atOnce: statementsAtOnce, atMost: subscriptionsInOne };
    this.days = new BatchLoader({ run: (ids) => this.findDays(ids), ...gathering });
    this.claims = new BatchLoader({ run: (requests) => this.claimAll(requests), ...gathering });
  }

  /** Takes the oldest due deliveries of a subscription: at most `most`, and with those under way no more than its receiver gets at a time. */
  async claim(request: ClaimRequest): Promise<Claim> {
    const days = request.days ?? (await this.days.row(request.subscriptionId));
    if (days === undefined) return { ...nothing, days };
    const claim = (await this.claims.row({ ...request, days })) ?? nothing;
    // Another process took some of the 64 rows we looked at, so the remaining work may lie on other days: search again.
    const leavesOut = days.more === true && !claim.full && claim.deliveries.length > 0;
    return leavesOut ? { ...claim, full: true, days: undefined } : { ...claim, days };
  }

  private async findDays(ids: readonly string[]): Promise<{ index: number; row: DaySpan }[]> {
    const rows = await this.database.rows<DaySpan & { index: number }>(findDays, [ids]);
    return rows.map(({ index, ...row }) => ({ index, row }));
  }

  private async claimAll(requests: readonly DatedRequest[]): Promise<{ index: number; row: Claimed }[]> {
    const days = requests.map((request) => request.days).reduce(cover);
    const token = uuidv7();
    const leaseEndsAtMs = performance.now() + this.leaseMs;
    const claiming = this.database.rows<ClaimedRow>(claim, [
      requests.map(({ subscriptionId }) => subscriptionId),
      requests.map(({ most }) => most),
      token,
      this.leaseMs,
      requests.map(({ underWay }) => underWay),
      days.from,
      days.to,
    ]);
    claiming.catch((error: unknown) => {
      if (isOutage(error)) this.lost.free(token, leaseEndsAtMs); // it may have been committed all the same
    });
    const rows = await claiming;
    return requests.map((_request, index) => {
      const taken = rows.filter((row) => row.index === index);
      const deliveries = taken.map(({ index: _, width: __, lane: ___, ...row }) => ({
        ...row,
        token,
        leaseEndsAtMs,
      }));
      const [first] = taken;
      return { index, row: { deliveries, full: taken.length === first?.width, lane: first?.lane } };
    });
  }
}

const expire = statement(
  'deliveries.expire-leases',
  `WITH expired AS (
     SELECT day, id FROM webhook_deliveries WHERE status = 'in_flight' AND lease_until < now()
     ORDER BY lease_until LIMIT 500 FOR UPDATE SKIP LOCKED
   ), freed AS (
     UPDATE webhook_deliveries d SET status = 'retrying', next_attempt_at = now(), lease_token = NULL, lease_until = NULL
     FROM expired WHERE d.day = expired.day AND d.id = expired.id
     RETURNING d.day, d.id, d.attempt_count, d.trigger, d.attempt_started_at
   )
   INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, outcome)
   SELECT day, id, attempt_count, trigger, attempt_started_at, 'lost' FROM freed
   ON CONFLICT DO NOTHING`,
);

/** Frees deliveries whose process was lost: they are due at once, and their step of the schedule is not spent. Answers how many. */
export function expireLeases(database: Pick<Database, 'run'>): Promise<number> {
  return database.run(expire);
}
