import { BatchLoader, Database, RowParameters, statement } from '@fulfilment/database';
import { uuidv7 } from '@fulfilment/contracts';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../../config.js';
import { type DaySpan, mergeSpans } from '../../dispatch-queue/day-span.rules.js';
import type { ReceiverWindow } from '../concurrency/delivery-windows.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { type Lane, maxUnhealthyAttempts } from '../../dispatch-queue/lanes.rules.js';
import { failingThreshold } from '../health/health.rules.js';
import { windowSizes } from '../concurrency/window.rules.js';
import { DueScans } from './due-scans.js';
import { LostClaims } from './lost-claims.js';
import { accessNotRevokedSql } from '../../subscriptions/revocation/access-revocations.js';

export interface Claim {
  readonly deliveries: readonly LeasedDelivery[];
  /** Whether more may be due now: the claim reached its limit, or other days may have due deliveries. */
  readonly moreDue: boolean;
  /** The current lane of the subscription; undefined when nothing was due. */
  readonly lane: Lane | undefined;
  /** Days that the next claim searches; undefined when they must be determined again. */
  readonly days: DaySpan | undefined;
}

/** The claim of one batch. One statement claims for many subscriptions. */
export interface ClaimRequest {
  readonly subscriptionId: string;
  /** Maximum number of deliveries: one for each host slot that was taken. */
  readonly maxCount: number;
  /** Number of attempts for the subscription that this process is already running. */
  readonly running: number;
  readonly receiver: ReceiverWindow;
  /** Days to search; undefined when they must be determined first. */
  readonly days: DaySpan | undefined;
}

interface Search extends ClaimRequest {
  /** The search begins with deliveries that became due at this time; 0 for a full scan. */
  readonly dueFromMs: number;
}
type DatedSearch = Search & { readonly days: DaySpan };

/**
 * SQL: the due deliveries of a subscription since a time, oldest first.
 * @param subscription table with the columns `id` and `status`
 * @param dueFrom SQL of the time, in seconds since 1970
 * @param condition further SQL condition, which begins with AND
 */
const selectDue = (subscription: string, dueFrom: string, condition = ''): string =>
  `SELECT day, id, status, next_attempt_at FROM webhook_deliveries
   WHERE subscription_id = ${subscription}.id AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     AND next_attempt_at >= to_timestamp(${dueFrom}) ${condition}
     AND (trigger IN ('manual', 'test') OR ${subscription}.status = 'active')
   ORDER BY next_attempt_at`;

const claimRequests = new RowParameters<DatedSearch>('r', {
  id: ['uuid', ({ subscriptionId }) => subscriptionId],
  max_count: ['int', ({ maxCount }) => maxCount],
  running: ['int', ({ running }) => running],
  window_size: ['int', ({ receiver }) => receiver.window.size],
  window_url: ['text', ({ receiver }) => receiver.url ?? null],
  due_from: ['float8', ({ dueFromMs }) => dueFromMs / 1000],
});
/** SQL: the maximum number of concurrent attempts for a subscription. `least` ignores nulls. */
const attemptLimit = `least(s.max_in_flight,
         CASE WHEN s.consecutive_failures >= ${failingThreshold} THEN ${maxUnhealthyAttempts.failing}
              WHEN s.last_delivery_at IS NULL THEN ${maxUnhealthyAttempts.new}
              WHEN s.lane = 'slow' THEN ${maxUnhealthyAttempts.slow} END,
         CASE WHEN s.url = r.window_url THEN r.window_size ELSE ${windowSizes.initial} END)`;
// Finds due deliveries in the index of open deliveries, and their rows by key. A subscription must occur only
// once among the requests, since SKIP LOCKED does not skip rows that the same statement has locked; a process
// runs one claim of a subscription at a time. The days are parameters, so that PostgreSQL prunes the
// partitions of other days: with a month of partitions, opening all of them took half of the time.
const claimDueDeliveries = statement(
  'deliveries.claim',
  `WITH requested AS MATERIALIZED (
     SELECT r.index, s.id, s.status, s.url, s.secret,
       CASE WHEN s.previous_secret_until > now() THEN s.previous_secret END AS previous_secret,
       s.signing_key, CASE WHEN s.previous_signing_key_until > now() THEN s.previous_signing_key END AS previous_signing_key,
       least(r.max_count, greatest(0, ${attemptLimit} - r.running)) AS max_claimed, s.lane, r.due_from
     FROM ${claimRequests.tableWithIndex()}
     JOIN webhook_subscriptions s ON s.id = r.id AND s.deleted_at IS NULL AND ${accessNotRevokedSql('s')}
   ), due AS MATERIALIZED (
     SELECT requested.index, found.* FROM requested CROSS JOIN LATERAL (
       ${selectDue('requested', 'requested.due_from', 'AND day BETWEEN :first_day AND :last_day')}
       LIMIT requested.max_claimed FOR UPDATE SKIP LOCKED) AS found
   )
   UPDATE webhook_deliveries d SET status = 'in_flight', next_attempt_at = NULL, attempt_count = d.attempt_count + 1,
     attempt_started_at = now(), lease_token = :lease_token, lease_until = now() + :lease_ms * interval '1 millisecond'
   FROM due JOIN requested USING (index), webhook_events e
   WHERE d.day = due.day AND d.id = due.id AND e.day = due.day AND e.id = d.event_id AND e.api_version = d.api_version
     AND d.day BETWEEN :first_day AND :last_day AND e.day BETWEEN :first_day AND :last_day
   RETURNING due.index::int - 1 AS index, requested.max_claimed AS "maxClaimed", requested.lane, due.next_attempt_at AS "dueAt",
     d.day, d.id, d.subscription_id AS "subscriptionId", d.event_id AS "eventId", d.event, d.test, d.trigger, d.attempt_count AS number,
     d.attempt_count = 1 AND d.trigger = 'auto' AND due.status = 'pending' AS "isFirst", d.schedule_step AS "scheduleStep",
     d.attempt_count - d.attempts_before_schedule AS "attemptsInSchedule",
     d.prior_status AS "priorStatus", e.occurred_at AS "occurredAt", e.traceparent, e.body, requested.url, requested.secret,
     requested.previous_secret AS "previousSecret", requested.signing_key AS "signingKey",
     requested.previous_signing_key AS "previousSigningKey"`,
);

/**
 * Maximum number of due deliveries of a subscription that `findDueDays` reads. The next claims search only
 * their days. Once they are claimed, the days are determined again.
 */
const maxDueRows = 64;
const searches = new RowParameters<Search>('r', {
  id: ['uuid', ({ subscriptionId }) => subscriptionId],
  due_from: ['float8', ({ dueFromMs }) => dueFromMs / 1000],
});
const findDueDays = statement(
  'deliveries.days-due',
  `SELECT r.index::int - 1 AS index, min(due.day) AS "from", max(due.day) AS "to", count(*) = ${maxDueRows} AS more
   FROM ${searches.tableWithIndex()}
   JOIN webhook_subscriptions s ON s.id = r.id AND s.deleted_at IS NULL AND ${accessNotRevokedSql('s')}
   CROSS JOIN LATERAL (${selectDue('s', 'r.due_from')} LIMIT ${maxDueRows}) AS due
   GROUP BY r.index`,
);

const maxSubscriptionsPerStatement = 25;
/** For `dayLoader` and `claimLoader` each. Of the default pool of 5 connections, settlements keep one. */
const maxConcurrentStatements = 2;

const emptyClaim = { deliveries: [], moreDue: false, lane: undefined, days: undefined } as const;

interface ClaimedRow extends Omit<LeasedDelivery, 'token' | 'leaseEndsAtMs'> {
  readonly index: number;
  /** Maximum number of deliveries that this claim was allowed. */
  readonly maxClaimed: number;
  readonly lane: Lane;
  /** When the delivery became due. */
  readonly dueAt: Date;
}

/**
 * Claims deliveries by a lease in PostgreSQL. The lease, not a lock in Redis, decides which process makes an
 * attempt. A process that dies, or stalls for longer than its leases, loses them; the reconciler frees the
 * deliveries.
 */
@Injectable()
export class ClaimDeliveries {
  private readonly leaseMs: number;
  private readonly lostClaims: LostClaims;
  private readonly dayLoader: BatchLoader<Search, DaySpan>;
  private readonly claimLoader: BatchLoader<DatedSearch, Claim>;

  constructor(
    @Inject(DELIVERY_DATABASE) private readonly database: Database,
    @Inject(CONFIG) config: Pick<WebhookWorkerSettings, 'WEBHOOK_TIMEOUT_MS' | 'WEBHOOK_LEASE_SLACK_MS'>,
    private readonly scans: DueScans,
  ) {
    this.leaseMs = config.WEBHOOK_TIMEOUT_MS + config.WEBHOOK_LEASE_SLACK_MS;
    this.lostClaims = new LostClaims(database);
    const limits = { maxConcurrent: maxConcurrentStatements, maxBatchSize: maxSubscriptionsPerStatement };
    this.dayLoader = new BatchLoader({ run: (requests) => this.findDays(requests), ...limits });
    this.claimLoader = new BatchLoader({ run: (requests) => this.claimAll(requests), ...limits });
  }

  /**
   * Claims the oldest due deliveries: at most `maxCount`, and together with the running attempts at most the
   * receiver's limit. That is the smallest of its window, the maximum of its owner, and, for a receiver that
   * is not healthy, `maxUnhealthyAttempts`.
   */
  async run(request: ClaimRequest): Promise<Claim> {
    // A request without days, such as the reconciler's, may be for a delivery that partial scans have missed.
    const scan = this.scans.scanFor(request.subscriptionId);
    const dueFromMs = scan.position({ preferFull: request.days === undefined });
    const startedAtMs = performance.now();
    try {
      return await this.claimFrom({ ...request, dueFromMs });
    } finally {
      if (dueFromMs === 0) scan.fullScanTook(performance.now() - startedAtMs);
    }
  }

  private async claimFrom(search: Search): Promise<Claim> {
    const days = search.days ?? (await this.dayLoader.load(search));
    if (days === undefined) return emptyClaim;
    const claim = (await this.claimLoader.load({ ...search, days })) ?? { ...emptyClaim, days };
    return mayOtherDaysBeDue(days, search, claim) ? { ...claim, moreDue: true, days: undefined } : claim;
  }

  private async findDays(requests: readonly Search[]): Promise<{ index: number; row: DaySpan }[]> {
    const values = searches.values(requests);
    const rows = await this.database.rows<DaySpan & { index: number }>(findDueDays, values);
    return rows.map(({ index, ...row }) => ({ index, row }));
  }

  private async claimAll(requests: readonly DatedSearch[]): Promise<{ index: number; row: Claim }[]> {
    const span = requests.map(({ days }) => days).reduce(mergeSpans);
    const token = uuidv7();
    const leaseEndsAtMs = performance.now() + this.leaseMs;
    const values = {
      first_day: span.from,
      last_day: span.to,
      lease_token: token,
      lease_ms: this.leaseMs,
      ...claimRequests.values(requests),
    };
    const rows = await this.database.rows<ClaimedRow>(claimDueDeliveries, values).catch((error: unknown) => {
      // The claim may have been committed.
      if (error instanceof DependencyUnavailable) this.lostClaims.revert(token, leaseEndsAtMs);
      throw error;
    });
    return requests.map(({ subscriptionId, days }, index) => {
      const claimed = rows.filter((row) => row.index === index);
      const dueTimes = claimed.map(({ dueAt }) => dueAt.getTime()).toSorted((a, b) => a - b);
      this.scans.scanFor(subscriptionId).advance(dueTimes);
      const deliveries = claimed.map((row) => ({ ...row, token, leaseEndsAtMs }));
      const [first] = claimed;
      const moreDue = claimed.length === first?.maxClaimed;
      return { index, row: { deliveries, moreDue, lane: first?.lane, days } };
    });
  }
}

/**
 * Whether the days must be determined again, since other days may have due deliveries: the search for these
 * days stopped at `maxDueRows` (`days.more`), and the claim left no due delivery in them.
 */
function mayOtherDaysBeDue(days: DaySpan, request: ClaimRequest, claim: Claim): boolean {
  if (days.more !== true || claim.moreDue) return false;
  if (claim.deliveries.length > 0) return true;
  // Nothing was claimed. Days that were determined for this very claim would be found again. While attempts
  // are running, the reason may be the receiver's limit.
  return request.days !== undefined && request.running === 0;
}
