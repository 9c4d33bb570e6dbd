import type { DisabledReason, SubscriptionStatus } from '../subscriptions/subscription.rules.js';
import { failingAfterFailures, type Lane, slowAboveMs } from './lanes.rules.js';

/** How a subscription's receiver is doing: the columns its attempts change. */
export interface Health {
  readonly status: SubscriptionStatus;
  /** Failed attempts since the last 2xx. */
  readonly consecutiveFailures: number;
  /** The first of them; null when there is none. */
  readonly failingSince: Date | null;
  readonly lastDeliveryAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  /** Moving average of how long an attempt takes. */
  readonly latencyMs: number;
  readonly lane: Lane;
  /** The owner was told, since the receiver began to fail, that a delivery failed for good. */
  readonly toldDeliveryFailed: boolean;
}

export interface AttemptResult {
  readonly succeeded: boolean;
  /** The receiver said 410: it wants nothing any more (Standard Webhooks). */
  readonly gone: boolean;
  /** It failed because of us: it counts neither for nor against the receiver. */
  readonly isLocalFailure: boolean;
  /** It was the last of its delivery, which failed for good. */
  readonly exhausted: boolean;
  /** Null when our own clock stood still meanwhile, so that it says nothing. */
  readonly durationMs: number | null;
}

/** A subscription is disabled when both are reached. */
export interface DisableLimits {
  /** Failed attempts in a row. */
  readonly failures: number;
  /** Since the first of them; the last success may be older. */
  readonly afterMs: number;
}

const weightOfNewest = 0.2;

/** The subscription after these attempts, in the order they ended. Test events are not among them. */
export function afterAttempts(
  before: Health,
  attempts: readonly AttemptResult[],
  now: Date,
  limits: DisableLimits,
): Health {
  return attempts.reduce((health, attempt) => afterAttempt(health, attempt, now, limits), before);
}

function afterAttempt(health: Health, attempt: AttemptResult, now: Date, limits: DisableLimits): Health {
  if (attempt.isLocalFailure) return health;
  const latencyMs =
    health.latencyMs + weightOfNewest * ((attempt.durationMs ?? health.latencyMs) - health.latencyMs);
  if (attempt.succeeded) {
    return {
      ...health,
      consecutiveFailures: 0,
      failingSince: null,
      toldDeliveryFailed: false,
      lastDeliveryAt: now,
      latencyMs,
      lane: latencyMs > slowAboveMs ? 'slow' : 'fast',
    };
  }
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failingSince = health.failingSince ?? now;
  const failing: Health = {
    ...health,
    consecutiveFailures,
    failingSince,
    lastFailureAt: now,
    latencyMs,
    lane: consecutiveFailures >= failingAfterFailures || latencyMs > slowAboveMs ? 'slow' : 'fast',
  };
  if (health.status === 'disabled') return failing;
  if (attempt.gone) return { ...failing, status: 'disabled', disabledAt: now, disabledReason: 'gone' };
  // The count alone would disable a healthy receiver in a burst of failures, the time alone one that gets few events.
  const enough =
    consecutiveFailures >= limits.failures && now.getTime() - failingSince.getTime() >= limits.afterMs;
  if (enough) return { ...failing, status: 'disabled', disabledAt: now, disabledReason: 'failing' };
  return { ...failing, toldDeliveryFailed: health.toldDeliveryFailed || attempt.exhausted };
}
