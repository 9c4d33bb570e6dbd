import type { Attempt } from './settlement/settle-attempts.js';

const leaseMs = 60_000;

/** A successful attempt, with a lease of a minute. */
export function anAttempt(subscriptionId: string): Attempt {
  return {
    delivery: {
      subscriptionId,
      leaseEndsAtMs: performance.now() + leaseMs,
      day: '2026-11-22',
      id: '01900000-0000-7000-8000-000000000001',
      token: '01900000-0000-7000-8000-000000000002',
      eventId: '01900000-0000-7000-8000-000000000003',
      event: 'order.created',
      test: false,
      trigger: 'auto',
      number: 1,
      isFirst: true,
      scheduleStep: 0,
      attemptsInSchedule: 1,
      priorStatus: null,
      occurredAt: new Date(),
      traceparent: null,
      body: Buffer.from('{}'),
      url: 'https://receiver.example/',
      secret: Buffer.alloc(32),
      previousSecret: null,
      signingKey: null,
      previousSigningKey: null,
    },
    exchange: {
      outcome: 'succeeded',
      statusCode: 200,
      headers: {},
      body: Buffer.alloc(0),
      complete: true,
      truncated: false,
      abortReason: undefined,
      durationMs: 1,
      isLocalFailure: false,
      processStalled: false,
    },
  };
}
