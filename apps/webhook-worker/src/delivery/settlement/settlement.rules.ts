import type { Exchange } from '@fulfilment/guarded-fetch';
import type { SubscriptionState } from '../../subscriptions/subscription.rules.js';
import type { DeliveryStatus, FailureReason } from '../delivery-state.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { retryDelayMs } from './retry.rules.js';

/** The state of a delivery after an attempt. */
export interface NextState {
  readonly status: Exclude<DeliveryStatus, 'pending' | 'in_flight'>;
  readonly failureReason: Exclude<FailureReason, 'expired'> | null;
  /** Delay before the next attempt; null if none follows, or if `restorePrior` restores its time. */
  readonly delayMs: number | null;
  readonly scheduleStep: number;
  /** Whether to restore the failure reason, trigger and times that the delivery had before a manual retry. */
  readonly restorePrior: boolean;
}

export interface SettlementContext {
  /** The current state of the subscription, not that at the claim. */
  readonly subscription: SubscriptionState;
  /** Whether the subscription still has the URL of the claim; if not, another receiver responded. */
  readonly isSameUrl: boolean;
  readonly scheduleMs: readonly number[];
  /** Random number from 0 to 1, for the delay. */
  readonly chance: number;
  readonly now: Date;
}

type AttemptedDelivery = Pick<
  LeasedDelivery,
  'test' | 'trigger' | 'scheduleStep' | 'attemptsInSchedule' | 'priorStatus'
>;

/** Returns the state after an attempt. The first rule that applies decides. */
export function nextState(
  delivery: AttemptedDelivery,
  exchange: Exchange,
  context: SettlementContext,
): NextState {
  const { subscription, scheduleMs } = context;
  const { priorStatus } = delivery;
  const isUncounted = isUncountedFailure(delivery, exchange, scheduleMs);
  // A manual retry is an extra attempt, so it leaves the schedule where it was.
  const countsAsStep = !isUncounted && delivery.trigger !== 'manual';
  const scheduleStep = delivery.scheduleStep + (countsAsStep ? 1 : 0);
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
  // A delivery that had ended before the manual retry returns to that state.
  if (priorStatus === 'succeeded' || priorStatus === 'failed')
    return transitionTo(priorStatus, { restorePrior: true });
  if (subscription === 'deleted') return failed('subscription_deleted');
  if (delivery.test) return failed('exhausted'); // a test event has one attempt
  if (exchange.statusCode === 410 && context.isSameUrl) return failed('gone');
  // A delivery that was held or open before the manual retry returns to that state, or to its schedule.
  if (priorStatus === 'held') return transitionTo('held', { restorePrior: true });
  if (priorStatus !== null)
    return subscription === 'disabled'
      ? transitionTo('held')
      : transitionTo('retrying', { restorePrior: true });
  // After an uncounted failure the delivery stays at its step of the schedule, but the delay grows: it is
  // that of the step that the delivery would have reached if all its attempts counted.
  const delayStep = isUncounted ? Math.min(delivery.attemptsInSchedule, scheduleMs.length - 1) : scheduleStep;
  const delayMs = retryDelayMs(exchange, delayStep, scheduleMs, context);
  if (delayMs === undefined) return failed('exhausted');
  return subscription === 'disabled' ? transitionTo('held') : transitionTo('retrying', { delayMs });
}

/**
 * Whether the attempt failed on our side and does not count as a step of the schedule, so that a broken name
 * server of ours cannot exhaust it. Once the schedule has had twice as many attempts as it has steps, such
 * failures count as well.
 */
function isUncountedFailure(
  { attemptsInSchedule }: AttemptedDelivery,
  { isLocalFailure }: Exchange,
  scheduleMs: readonly number[],
): boolean {
  return isLocalFailure && attemptsInSchedule < 2 * scheduleMs.length;
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
      return value === undefined ? [] : [[name, value.slice(0, maxHeaderCharacters)]];
    }),
  );
}
