import type { Exchange } from '@fulfilment/guarded-fetch';
import { anAttempt } from '../attempt.fixture.js';
import { nextState } from './settlement.rules.js';

const { delivery, exchange: succeeded } = anAttempt('01900000-0000-7000-8000-000000000004');
const exchange: Exchange = {
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

describe('a local failure of an attempt', () => {
  it.each([
    [1, 0, 1_000],
    [2, 0, 60_000],
    [5, 2, 60_000],
  ])(
    'as attempt number %i of the schedule spends no step of it, and is retried with growing delays',
    (attemptsInSchedule, scheduleStep, delayMs) => {
      expect(nextState({ ...delivery, attemptsInSchedule, scheduleStep }, exchange, context)).toMatchObject({
        status: 'retrying',
        scheduleStep,
        delayMs,
      });
    },
  );

  it('spends a step after twice as many attempts as the schedule has steps', () => {
    expect(
      nextState({ ...delivery, attemptsInSchedule: 6, scheduleStep: 1 }, exchange, context),
    ).toMatchObject({
      status: 'retrying',
      scheduleStep: 2,
    });
    expect(
      nextState({ ...delivery, attemptsInSchedule: 7, scheduleStep: 2 }, exchange, context),
    ).toMatchObject({
      status: 'failed',
      failureReason: 'exhausted',
    });
  });
});
