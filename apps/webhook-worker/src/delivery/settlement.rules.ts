import type { Exchange } from '@fulfilment/guarded-fetch';
import type { SubscriptionState } from '../subscriptions/subscription.rules.js';
import type { DeliveryStatus, FailureReason } from './delivery.rules.js';
import type { Leased } from './lease.js';
import { retryDelayMs } from './retry.rules.js';

/** Where an attempt leaves its delivery. */
export interface NextState {
  readonly status: Exclude<DeliveryStatus, 'pending' | 'in_flight'>;
  readonly failureReason: Exclude<FailureReason, 'expired'> | null;
  /** Null unless it is `retrying`. */
  readonly delayMs: number | null;
  readonly scheduleStep: number;
  /** Reason and times are those from before the retry by hand. */
  readonly asBefore: boolean;
}

export interface Situation {
  readonly subscription: SubscriptionState;
  /** The URL is still the one that was posted to; if not, the answer is of a receiver that was replaced. */
  readonly sameUrl: boolean;
  readonly scheduleMs: readonly number[];
  readonly chance: number;
  readonly now: Date;
}

type Attempted = Pick<Leased, 'number' | 'test' | 'trigger' | 'scheduleStep' | 'priorStatus'>;

export function nextState(delivery: Attempted, exchange: Exchange, situation: Situation): NextState {
  const { scheduleMs } = situation;
  // A failure of ours spends no step of the schedule, up to as many attempts again as it has: a broken name server of ours cannot use it up.
  const madeUpFor = exchange.isLocalFailure && delivery.number < 2 * scheduleMs.length;
  // What the owner asks for by hand comes on top of the schedule.
  const scheduleStep = delivery.scheduleStep + (delivery.trigger === 'manual' || madeUpFor ? 0 : 1);
  const becomes = (status: NextState['status'], changes: Partial<NextState> = {}): NextState => ({
    status,
    failureReason: null,
    delayMs: null,
    scheduleStep,
    asBefore: false,
    ...changes,
  });
  const failed = (failureReason: NextState['failureReason']): NextState =>
    becomes('failed', { failureReason });
  if (exchange.outcome === 'succeeded') return becomes('succeeded');
  const { priorStatus } = delivery;
  // A delivery that had ended stays as it was: failed for the reason it had, or succeeded, since it was received.
  if (priorStatus === 'succeeded' || priorStatus === 'failed')
    return becomes(priorStatus, { asBefore: true });
  if (situation.subscription === 'deleted') return failed('subscription_deleted');
  if (delivery.test) return failed('exhausted'); // a test is one attempt
  if (exchange.statusCode === 410 && situation.sameUrl) return failed('gone');
  if (priorStatus !== null) {
    if (priorStatus === 'held') return becomes('held', { asBefore: true });
    return situation.subscription === 'disabled' ? becomes('held') : becomes('retrying', { asBefore: true });
  }
  const attempt = {
    outcome: exchange.outcome,
    statusCode: exchange.statusCode,
    retryAfter: exchange.headers['retry-after'],
  };
  const stepsAway = madeUpFor ? Math.min(delivery.number, scheduleMs.length - 1) : scheduleStep;
  const delayMs = retryDelayMs(attempt, stepsAway, scheduleMs, situation);
  if (delayMs === undefined) return failed('exhausted');
  return situation.subscription === 'disabled' ? becomes('held') : becomes('retrying', { delayMs });
}

const shownHeaders = [
  'content-type',
  'content-length',
  'date',
  'location',
  'retry-after',
  'server',
  'x-request-id',
];
const longestHeader = 1_024;

/** The answer's headers that the owner may see in the history. */
export function historyHeaders(headers: Exchange['headers']): Record<string, string> {
  return Object.fromEntries(
    shownHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value).slice(0, longestHeader)]];
    }),
  );
}
