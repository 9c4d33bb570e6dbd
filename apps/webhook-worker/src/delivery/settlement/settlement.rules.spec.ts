import type { Exchange } from '@fulfilment/guarded-fetch';
import { anAttempt } from '../attempt.fixture.js';
import { historyHeaders, nextState } from './settlement.rules.js';

const { delivery, exchange: succeeded } = anAttempt('01900000-0000-7000-8000-000000000004');
const rejected: Exchange = { ...succeeded, outcome: 'http_error', statusCode: 500 };
const gone: Exchange = { ...rejected, statusCode: 410 };
const unresolved: Exchange = {
  ...succeeded,
  outcome: 'dns_error',
  statusCode: undefined,
  isLocalFailure: true,
};
const context = {
  subscription: 'active',
  isSameUrl: true,
  scheduleMs: [0, 1_000, 60_000],
  chance: 0.5,
  now: new Date('2026-11-20T12:00:00Z'),
} as const;

describe('a scheduled attempt', () => {
  it('that succeeds ends the delivery, also of a subscription that was deleted or disabled', () => {
    const ended = {
      status: 'succeeded',
      failureReason: null,
      delayMs: null,
      scheduleStep: 1,
      restorePrior: false,
    };
    for (const subscription of ['active', 'disabled', 'deleted'] as const)
      expect(nextState(delivery, succeeded, { ...context, subscription })).toEqual(ended);
  });

  it('that fails is followed by the next step of the schedule, until the last', () => {
    const retried = { status: 'retrying', failureReason: null, restorePrior: false };
    expect(nextState(delivery, rejected, context)).toEqual({ ...retried, scheduleStep: 1, delayMs: 1_000 });
    expect(nextState({ ...delivery, scheduleStep: 1 }, rejected, context)).toEqual({
      ...retried,
      scheduleStep: 2,
      delayMs: 60_000,
    });
    expect(nextState({ ...delivery, scheduleStep: 2 }, rejected, context)).toEqual({
      status: 'failed',
      failureReason: 'exhausted',
      scheduleStep: 3,
      delayMs: null,
      restorePrior: false,
    });
  });

  it('that fails is not repeated for a deleted subscription', () => {
    const deleted = { ...context, subscription: 'deleted' } as const;
    const failed = { status: 'failed', failureReason: 'subscription_deleted', delayMs: null };
    expect(nextState(delivery, rejected, deleted)).toMatchObject(failed);
    expect(nextState(delivery, gone, deleted)).toMatchObject(failed);
  });

  it('that fails leaves the delivery of a disabled subscription held, unless it was the last attempt', () => {
    const disabled = { ...context, subscription: 'disabled' } as const;
    expect(nextState(delivery, rejected, disabled)).toEqual({
      status: 'held',
      failureReason: null,
      scheduleStep: 1,
      delayMs: null,
      restorePrior: false,
    });
    expect(nextState({ ...delivery, scheduleStep: 2 }, rejected, disabled)).toMatchObject({
      status: 'failed',
      failureReason: 'exhausted',
    });
  });

  it('with the response 410 fails the delivery, unless the URL has changed since the attempt', () => {
    expect(nextState(delivery, gone, context)).toMatchObject({
      status: 'failed',
      failureReason: 'gone',
      delayMs: null,
    });
    expect(nextState(delivery, gone, { ...context, isSameUrl: false })).toMatchObject({
      status: 'retrying',
      delayMs: 1_000,
    });
  });

  it('is the only one of a test event', () => {
    expect(nextState({ ...delivery, test: true }, rejected, context)).toMatchObject({
      status: 'failed',
      failureReason: 'exhausted',
    });
  });
});

describe('a manual retry', () => {
  const manual = { ...delivery, trigger: 'manual', scheduleStep: 1 } as const;

  it('that succeeds ends the delivery, whatever its state before', () => {
    for (const priorStatus of ['succeeded', 'failed', 'held', 'pending', 'retrying'] as const)
      expect(nextState({ ...manual, priorStatus }, succeeded, context)).toMatchObject({
        status: 'succeeded',
        scheduleStep: 1,
        restorePrior: false,
      });
  });

  it.each(['succeeded', 'failed', 'held'] as const)(
    'that fails returns the delivery to the state before: %s',
    (priorStatus) => {
      for (const subscription of ['active', 'disabled'] as const)
        expect(nextState({ ...manual, priorStatus }, rejected, { ...context, subscription })).toEqual({
          status: priorStatus,
          failureReason: null,
          scheduleStep: 1,
          delayMs: null,
          restorePrior: true,
        });
    },
  );

  it.each(['pending', 'retrying'] as const)(
    'that fails returns a delivery that was %s to its schedule, or holds it for a disabled subscription',
    (priorStatus) => {
      const retried = { ...manual, priorStatus };
      expect(nextState(retried, rejected, context)).toEqual({
        status: 'retrying',
        failureReason: null,
        scheduleStep: 1,
        delayMs: null,
        restorePrior: true,
      });
      expect(nextState(retried, rejected, { ...context, subscription: 'disabled' })).toMatchObject({
        status: 'held',
        restorePrior: false,
      });
    },
  );

  it('that fails leaves an ended delivery as it was, even with the response 410 or for a deleted subscription', () => {
    for (const priorStatus of ['succeeded', 'failed'] as const)
      expect(
        nextState({ ...manual, priorStatus }, gone, { ...context, subscription: 'deleted' }),
      ).toMatchObject({
        status: priorStatus,
        restorePrior: true,
      });
  });

  it('with the response 410 fails a delivery that had not ended', () => {
    for (const priorStatus of ['held', 'pending', 'retrying'] as const)
      expect(nextState({ ...manual, priorStatus }, gone, context)).toMatchObject({
        status: 'failed',
        failureReason: 'gone',
      });
  });
});

describe('an attempt that fails on our side', () => {
  it.each([
    [1, 0, 1_000],
    [2, 0, 60_000],
    [5, 2, 60_000],
  ])(
    'leaves the delivery at its step of the schedule, and is retried with growing delays, as attempt %i of at most 6',
    (attemptsInSchedule, scheduleStep, delayMs) => {
      expect(nextState({ ...delivery, attemptsInSchedule, scheduleStep }, unresolved, context)).toMatchObject(
        { status: 'retrying', scheduleStep, delayMs },
      );
    },
  );

  it('moves the delivery to its next step after twice as many attempts as the schedule has steps', () => {
    expect(
      nextState({ ...delivery, attemptsInSchedule: 6, scheduleStep: 1 }, unresolved, context),
    ).toMatchObject({
      status: 'retrying',
      scheduleStep: 2,
    });
    expect(
      nextState({ ...delivery, attemptsInSchedule: 7, scheduleStep: 2 }, unresolved, context),
    ).toMatchObject({
      status: 'failed',
      failureReason: 'exhausted',
    });
  });
});

describe('the response headers in the history', () => {
  it('are the visible ones, cut to 1024 characters', () => {
    expect(
      historyHeaders({
        'content-type': 'text/plain',
        server: 'x'.repeat(1_025),
        'set-cookie': 'session=secret',
      }),
    ).toEqual({ 'content-type': 'text/plain', server: 'x'.repeat(1_024) });
  });
});
