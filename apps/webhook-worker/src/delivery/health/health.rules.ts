import type { DisabledReason, SubscriptionStatus } from '../../subscriptions/subscription.rules.js';
import type { Lane } from '../../dispatch-queue/lanes.rules.js';

/** Number of consecutive failures from which a receiver counts as failing. */
export const failingThreshold = 3;
/** Moving average of the duration above which a receiver counts as slow. */
export const slowThresholdMs = 2_000;

/** Health of a subscription's receiver: the columns that attempts change. */
export interface Health {
  readonly status: SubscriptionStatus;
  /** Number of failed attempts since the last 2xx. */
  readonly consecutiveFailures: number;
  /** Time of the first of these failures; null if there are none. */
  readonly failingSince: Date | null;
  readonly lastDeliveryAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  /** Moving average of the duration of attempts. */
  readonly latencyMs: number;
  readonly lane: Lane;
  /** Whether the owner was notified of an exhausted delivery since the receiver began to fail. */
  readonly failureNotified: boolean;
}

/** What an attempt shows about the receiver. */
export interface AttemptResult {
  readonly succeeded: boolean;
  /** Whether the receiver responded with 410: it wants no more events (Standard Webhooks). */
  readonly gone: boolean;
  /** Whether the delivery failed finally, since its schedule has no further attempt. */
  readonly exhausted: boolean;
  /** Null when this process stalled, which makes the duration meaningless. */
  readonly durationMs: number | null;
}

/** A subscription is disabled when both limits are reached. */
export interface DisableLimits {
  /** Number of consecutive failed attempts. */
  readonly failures: number;
  /** Time since the first of them; the last success may be older. */
  readonly afterMs: number;
}

/** Weight of the newest attempt in the moving average of the latency. */
const newestWeight = 0.2;

/**
 * Returns the health after attempts that count for the receiver, in the order in which they ended. Failures
 * on our side and test events do not count.
 */
export function healthAfterAttempts<T extends Health>(
  before: T,
  attempts: readonly AttemptResult[],
  now: Date,
  limits: DisableLimits,
): T {
  let health = before;
  for (const attempt of attempts) {
    const { consecutiveFailures, failingSince } = health;
    const isDisabledByEarlier = health.status !== before.status;
    const after = healthAfterAttempt(health, attempt, now, limits);
    // The owner is shown the failures that disabled the subscription: later attempts do not change them.
    health = isDisabledByEarlier ? { ...after, consecutiveFailures, failingSince } : after;
  }
  return health;
}

function healthAfterAttempt<T extends Health>(
  health: T,
  attempt: AttemptResult,
  now: Date,
  limits: DisableLimits,
): T {
  const durationMs = attempt.durationMs ?? health.latencyMs; // the average stays if it is unknown
  const latencyMs = health.latencyMs + newestWeight * (durationMs - health.latencyMs);
  if (attempt.succeeded) {
    return {
      ...health,
      consecutiveFailures: 0,
      failingSince: null,
      failureNotified: false,
      lastDeliveryAt: now,
      latencyMs,
      lane: latencyMs > slowThresholdMs ? 'slow' : 'fast',
    };
  }
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failingSince = health.failingSince ?? now;
  const failing: T = {
    ...health,
    consecutiveFailures,
    failingSince,
    lastFailureAt: now,
    latencyMs,
    lane: consecutiveFailures >= failingThreshold || latencyMs > slowThresholdMs ? 'slow' : 'fast',
  };
  if (health.status === 'disabled') return failing;
  if (attempt.gone) return { ...failing, status: 'disabled', disabledAt: now, disabledReason: 'gone' };
  // By the count alone, a burst of failures would disable a healthy receiver; by the time alone, two failures
  // would disable a receiver that gets few events.
  const isLimitReached =
    consecutiveFailures >= limits.failures && now.getTime() - failingSince.getTime() >= limits.afterMs;
  if (isLimitReached) return { ...failing, status: 'disabled', disabledAt: now, disabledReason: 'failing' };
  return { ...failing, failureNotified: health.failureNotified || attempt.exhausted };
}
