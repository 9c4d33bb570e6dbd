import { jest } from '@jest/globals';
import { createLogger } from '@fulfilment/runtime';
import { SettlementBatches } from './settlement-batches.js';
import type { Attempt, SettleAttempts } from './settle-attempts.js';

const logger = createLogger('test', 'error');
const minute = 60_000;

/** Records the batches by their subscriptions; each ends when the test ends it. */
class FakeSettleAttempts implements Pick<SettleAttempts, 'run'> {
  readonly batches: { readonly subscriptions: string[]; readonly end: () => void }[] = [];
  private waiter: (() => void) | undefined;

  run(attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
    return new Promise((resolve) => {
      const subscriptions = attempts.map(({ delivery }) => delivery.subscriptionId);
      this.batches.push({ subscriptions, end: () => resolve(new Set()) });
      this.waiter?.();
    });
  }

  async batch(index: number): Promise<{ readonly subscriptions: string[]; readonly end: () => void }> {
    for (;;) {
      const found = this.batches[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.waiter = resolve;
      });
    }
  }
}

function attemptOf(subscriptionId: string): Attempt {
  return {
    delivery: {
      subscriptionId,
      leaseEndsAtMs: performance.now() + minute,
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

describe('the settlement of attempts', () => {
  it('writes the attempts that end during a batch together in the next one', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const settled = ['a', 'b', 'b'].map((id) => settlements.settle(attemptOf(id)));
    const first = await settleAttempts.batch(0);
    settled.push(...['c', 'a', 'c'].map((id) => settlements.settle(attemptOf(id))));
    first.end();
    const second = await settleAttempts.batch(1);
    second.end();
    await Promise.all(settled);
    expect(first.subscriptions).toEqual(['a', 'b', 'b']);
    expect(second.subscriptions).toEqual(['c', 'a', 'c']);
  });

  it('starts the next batch during a slow one, without the subscriptions that are in the slow one', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const slow = settlements.settle(attemptOf('slow'));
    const { end } = await settleAttempts.batch(0);
    const others = ['slow', 'other'].map((id) => settlements.settle(attemptOf(id)));
    const second = await settleAttempts.batch(1);
    expect(second.subscriptions).toEqual(['other']);
    second.end();
    await others[1];
    end();
    await slow;
    const third = await settleAttempts.batch(2);
    expect(third.subscriptions).toEqual(['slow']);
    third.end();
    await others[0];
  });

  it('has at most three batches under way', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const settled: Promise<void>[] = [];
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    try {
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        settled.push(settlements.settle(attemptOf(id)));
        await settleAttempts.batch(index);
        jest.advanceTimersByTime(minute); // now it is slow
      }
      settled.push(settlements.settle(attemptOf('d')));
      await new Promise(setImmediate);
      expect(settleAttempts.batches).toHaveLength(3);
      for (const batch of settleAttempts.batches) batch.end();
      (await settleAttempts.batch(3)).end();
      await Promise.all(settled);
    } finally {
      jest.useRealTimers();
    }
  });
});
