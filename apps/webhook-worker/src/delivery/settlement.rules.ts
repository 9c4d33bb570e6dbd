import type { Exchange } from '@fulfilment/guarded-fetch';
import type { Leased } from './lease.js';
import { retryDelayMs } from './retry.rules.js';

/** Where an attempt leaves its delivery. */
export interface NextState {
  readonly status: 'succeeded' | 'failed' | 'retrying' | 'held';
  readonly failureReason: 'exhausted' | 'gone' | 'subscription_deleted' | null;
  /** Of `retrying`. */
  readonly delayMs: number | null;
  readonly scheduleStep: number;
}

export interface Situation {
  readonly subscription: 'active' | 'disabled' | 'deleted';
  readonly scheduleMs: readonly number[];
  readonly chance: number;
  readonly now: Date;
}

type Attempted = Pick<Leased, 'test' | 'trigger' | 'scheduleStep'>;

export function nextState(delivery: Attempted, exchange: Exchange, situation: Situation): NextState {
  // What the owner asks for by hand comes on top of the schedule.
  const scheduleStep = delivery.scheduleStep + (delivery.trigger === 'manual' ? 0 : 1);
  const ended = (
    status: 'succeeded' | 'failed',
    failureReason: NextState['failureReason'] = null,
  ): NextState => ({
    status,
    failureReason,
    delayMs: null,
    scheduleStep,
  });
  if (exchange.outcome === 'succeeded') return ended('succeeded');
  if (situation.subscription === 'deleted') return ended('failed', 'subscription_deleted');
  if (delivery.test) return ended('failed', 'exhausted'); // a test is one attempt
  if (exchange.statusCode === 410) return ended('failed', 'gone');
  const failed = {
    outcome: exchange.outcome,
    statusCode: exchange.statusCode,
    retryAfter: exchange.headers['retry-after'],
  };
  const delayMs = retryDelayMs(failed, scheduleStep, situation.scheduleMs, situation);
  if (delayMs === undefined) return ended('failed', 'exhausted');
  if (situation.subscription === 'disabled')
    return { status: 'held', failureReason: null, delayMs: null, scheduleStep };
  return { status: 'retrying', failureReason: null, delayMs, scheduleStep };
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
