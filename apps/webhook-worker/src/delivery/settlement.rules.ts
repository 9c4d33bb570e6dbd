import type { Exchange } from '@fulfilment/guarded-fetch';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import type { DeliveryStatus, FailureReason } from './delivery-state.js';
import type { LeasedDelivery } from './lease.js';
import { retryDelayMs } from './retry.rules.js';

/** The state of a delivery after an attempt. */
export interface NextState {
  readonly status: Exclude<DeliveryStatus, 'pending' | 'in_flight'>;
  readonly failureReason: Exclude<FailureReason, 'expired'> | null;
  /** Null unless it is `retrying`. */
  readonly delayMs: number | null;
  readonly scheduleStep: number;
  /** Restores the failure reason and times from before the manual retry. */
  readonly restorePrior: boolean;
}

export interface SettlementContext {
  readonly subscription: SubscriptionState;
  /** The URL has not changed since the attempt; otherwise the response came from a replaced receiver. */
  readonly isSameUrl: boolean;
  readonly scheduleMs: readonly number[];
  readonly chance: number;
  readonly now: Date;
}

type AttemptedDelivery = Pick<LeasedDelivery, 'number' | 'test' | 'trigger' | 'scheduleStep' | 'priorStatus'>;

export function nextState(
  delivery: AttemptedDelivery,
  exchange: Exchange,
  context: SettlementContext,
): NextState {
  const { scheduleMs } = context;
  // A local failure spends no step of the schedule, so that a broken name server on our side cannot exhaust
  // it. The limit is as many additional attempts as the schedule has steps.
  const isExempt = exchange.isLocalFailure && delivery.number < 2 * scheduleMs.length;
  // A manual retry spends no step either.
  const scheduleStep = delivery.scheduleStep + (delivery.trigger === 'manual' || isExempt ? 0 : 1);
  const transitionTo = (status: NextState['status'], changes: Partial<NextState> = {}): NextState => ({
    status,
    failureReason: null,
    delayMs: null,
    scheduleStep,
    restorePrior: false,
    ...changes,
  });
  const failed = (failureReason: NextState['failureReason']): NextState =>
    transitionTo('failed', { failureReason });
  if (exchange.outcome === 'succeeded') return transitionTo('succeeded');
  const { priorStatus } = delivery;
  // A failed manual retry leaves a delivery that had ended as it was.
  if (priorStatus === 'succeeded' || priorStatus === 'failed')
    return transitionTo(priorStatus, { restorePrior: true });
  if (context.subscription === 'deleted') return failed('subscription_deleted');
  if (delivery.test) return failed('exhausted'); // a test event has one attempt
  if (exchange.statusCode === 410 && context.isSameUrl) return failed('gone');
  const wasOpenBeforeManualRetry = priorStatus !== null;
  if (wasOpenBeforeManualRetry) {
    if (priorStatus === 'held') return transitionTo('held', { restorePrior: true });
    return context.subscription === 'disabled'
      ? transitionTo('held')
      : transitionTo('retrying', { restorePrior: true });
  }
  const attempt = {
    outcome: exchange.outcome,
    statusCode: exchange.statusCode,
    retryAfter: exchange.headers['retry-after'],
  };
  const backoffStep = isExempt ? Math.min(delivery.number, scheduleMs.length - 1) : scheduleStep;
  const delayMs = retryDelayMs(attempt, backoffStep, scheduleMs, context);
  if (delayMs === undefined) return failed('exhausted');
  return context.subscription === 'disabled' ? transitionTo('held') : transitionTo('retrying', { delayMs });
}

/** Response headers that the history shows to the owner. */
export const visibleHeaders = [
  'content-type',
  'content-length',
  'date',
  'location',
  'retry-after',
  'server',
  'x-request-id',
];
const maxHeaderCharacters = 1_024;

/** Returns the visible headers of a response, with their values cut to the stored length. */
export function historyHeaders(headers: Exchange['headers']): Record<string, string> {
  return Object.fromEntries(
    visibleHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value).slice(0, maxHeaderCharacters)]];
    }),
  );
}
