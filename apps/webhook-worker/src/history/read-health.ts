import { Database, listTimeoutMs, ReadDatabase, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { ownedId } from '../subscriptions/owner.js';
import { readBacklog } from '../subscriptions/read-backlog.js';
import type { SubscriptionStatus } from '../subscriptions/subscription.rules.js';
import type { HealthView } from './health.shapes.js';
import { maxHealthAttempts, maxHealthDeliveries, maxOutcomes } from './history.rules.js';

const readState = statement(
  'health.state',
  `SELECT status, consecutive_failures, failing_since, date_trunc('milliseconds', now()) - $2 * interval '1 hour' AS since
   FROM webhook_subscriptions WHERE id = $1 AND creator_id = $3 AND client_id = $4 AND deleted_at IS NULL`,
);

// `maxHealthDeliveries` and `maxHealthAttempts` bound the number of rows that are read.
const readAttempts = statement(
  'health.attempts',
  `WITH counted AS MATERIALIZED (
     SELECT day, id FROM webhook_deliveries WHERE subscription_id = $1 AND created_at > $2 AND NOT test
     ORDER BY created_at DESC, id DESC LIMIT ${maxHealthDeliveries}
   ), attempts AS MATERIALIZED (
     SELECT a.* FROM counted d CROSS JOIN LATERAL (
       SELECT outcome, status_code, duration_ms FROM webhook_attempts
       WHERE day = d.day AND delivery_id = d.id ORDER BY number DESC LIMIT ${maxHealthAttempts}
     ) a WHERE a.outcome <> 'lost'
   ), outcomes AS (
     SELECT outcome, status_code, count(*) AS attempts FROM attempts
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ${maxOutcomes}
   )
   SELECT (SELECT count(*) FROM counted) AS deliveries, count(*) AS attempts,
     count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
     percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY duration_ms)
       FILTER (WHERE status_code IS NOT NULL AND duration_ms IS NOT NULL) AS percentiles,
     (SELECT coalesce(json_agg(o ORDER BY o.attempts DESC, o.outcome, o.status_code), '[]') FROM outcomes o) AS outcomes
   FROM attempts`,
);

interface StateRow {
  readonly status: SubscriptionStatus;
  readonly consecutive_failures: number;
  readonly failing_since: Date | null;
  readonly since: Date;
}

interface AttemptsRow {
  readonly deliveries: number;
  readonly attempts: number;
  readonly succeeded: number;
  readonly percentiles: readonly number[] | null;
  readonly outcomes: HealthView['outcomes'];
}

/** Summarises the newest attempts of a subscription. */
@Injectable()
export class ReadHealth {
  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
    @Inject(CONFIG)
    private readonly config: Pick<
      WebhookWorkerSettings,
      'WEBHOOK_DISABLE_FAILURES' | 'WEBHOOK_DISABLE_AFTER_MS'
    >,
  ) {}

  /** @throws NotFound; DependencyUnavailable on timeout */
  async run(caller: Caller, webhookId: string, hours: number): Promise<HealthView> {
    const { id, creatorId, clientId } = ownedId(caller, webhookId);
    const state =
      (await this.database.row<StateRow>(readState, [id, hours, creatorId, clientId])) ??
      throwNotFound('webhook subscription');
    const backlog = await readBacklog(this.database, id);
    const [counted] = await this.reads.read((database) =>
      database.rowsWithTimeout<AttemptsRow>(listTimeoutMs, readAttempts, [id, state.since]),
    );
    if (counted === undefined) throw new Error('PostgreSQL returned no counts.');
    const { deliveries, attempts, succeeded, percentiles, outcomes } = counted;
    const [p50, p95, p99] = percentiles ?? [];
    return {
      status: state.status,
      since: state.since.toISOString(),
      deliveries,
      attempts,
      success_rate: attempts === 0 ? null : succeeded / attempts,
      response_ms: p50 === undefined || p95 === undefined || p99 === undefined ? null : { p50, p95, p99 },
      outcomes,
      due_deliveries: backlog.due_deliveries,
      oldest_due_at: backlog.oldest_due_at?.toISOString() ?? null,
      failing: this.failing(state),
    };
  }

  private failing({ status, consecutive_failures, failing_since }: StateRow): HealthView['failing'] {
    if (status === 'disabled' || failing_since === null) return null;
    const { WEBHOOK_DISABLE_FAILURES: failures, WEBHOOK_DISABLE_AFTER_MS: afterMs } = this.config;
    return {
      since: failing_since.toISOString(),
      consecutive_failures,
      failures_until_disabled: Math.max(0, failures - consecutive_failures),
      disabled_at_earliest: new Date(failing_since.getTime() + afterMs).toISOString(),
    };
  }
}
