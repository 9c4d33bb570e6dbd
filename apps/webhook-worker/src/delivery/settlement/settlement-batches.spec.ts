import { jest } from '@jest/globals';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { createLogger } from '@fulfilment/runtime';
import { anAttempt } from '../attempt.fixture.js';
import { SettlementBatches } from './settlement-batches.js';
import type { Attempt, SettleAttempts } from './settle-attempts.js';

const logger = createLogger('test', 'error');
const minuteMs = 60_000;

interface FakeBatch {
  readonly subscriptions: string[];
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** Records the batches by their subscriptions; each ends when the test ends it. */
class FakeSettleAttempts implements Pick<SettleAttempts, 'run'> {
  readonly batches: FakeBatch[] = [];
  private waiter: (() => void) | undefined;

  run(attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
    return new Promise((resolve, fail) => {
      const subscriptions = attempts.map(({ delivery }) => delivery.subscriptionId);
      this.batches.push({ subscriptions, end: () => resolve(new Set()), fail });
      this.waiter?.();
    });
  }

  /** Resolves when this batch has begun. */
  async untilBatch(index: number): Promise<FakeBatch> {
    for (;;) {
      const found = this.batches[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.waiter = resolve;
      });
    }
  }
}

describe('the settlement of attempts', () => {
  it('writes the attempts that end during a batch in the next one', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const settled = ['a', 'b', 'b'].map((id) => settlements.settle(anAttempt(id)));
    const first = await settleAttempts.untilBatch(0);
    settled.push(...['c', 'a', 'c'].map((id) => settlements.settle(anAttempt(id))));
    first.end();
    const second = await settleAttempts.untilBatch(1);
    second.end();
    await Promise.all(settled);
    expect(first.subscriptions).toEqual(['a', 'b', 'b']);
    expect(second.subscriptions).toEqual(['c', 'a', 'c']);
  });

  it('starts the next batch during a slow one, without the subscriptions that are in the slow one', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const slow = settlements.settle(anAttempt('slow'));
    const { end } = await settleAttempts.untilBatch(0);
    const others = ['slow', 'other'].map((id) => settlements.settle(anAttempt(id)));
    const second = await settleAttempts.untilBatch(1);
    expect(second.subscriptions).toEqual(['other']);
    second.end();
    await others[1];
    end();
    await slow;
    const third = await settleAttempts.untilBatch(2);
    expect(third.subscriptions).toEqual(['slow']);
    third.end();
    await others[0];
  });

  it('runs at most three batches at once', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const settled: Promise<void>[] = [];
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    try {
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        settled.push(settlements.settle(anAttempt(id)));
        await settleAttempts.untilBatch(index);
        jest.advanceTimersByTime(minuteMs); // now it is slow
      }
      settled.push(settlements.settle(anAttempt('d')));
      await new Promise(setImmediate);
      expect(settleAttempts.batches).toHaveLength(3);
      for (const batch of settleAttempts.batches) batch.end();
      (await settleAttempts.untilBatch(3)).end();
      await Promise.all(settled);
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails only the attempt whose result cannot be stored, and retries those that an outage interrupts', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, createLogger('test', 'silent'));
    const [invalid, ...valid] = ['invalid', 'a', 'b'].map((id) => settlements.settle(anAttempt(id)));
    const rejected = expect(invalid).rejects.toThrow('invalid result');
    (await settleAttempts.untilBatch(0)).fail(new Error('invalid result'));
    (await settleAttempts.untilBatch(1)).fail(new Error('invalid result'));
    (await settleAttempts.untilBatch(2)).fail(new DependencyUnavailable('PostgreSQL is unavailable.'));
    (await settleAttempts.untilBatch(3)).end();
    await Promise.all([rejected, ...valid]);
    expect(settleAttempts.batches.map(({ subscriptions }) => subscriptions)).toEqual([
      ['invalid', 'a', 'b'],
      ['invalid'],
      ['a'], // interrupted
      ['a', 'b'],
    ]);
  });

  it('retries an attempt during an outage, and fails it at the next check after its lease has ended', async () => {
    const settleAttempts = new FakeSettleAttempts();
    const settlements = new SettlementBatches(settleAttempts, logger);
    const { delivery, exchange } = anAttempt('a');
    // The lease is valid when it is checked first, and has ended at the next check.
    let checks = 0;
    const endingLease = {
      ...delivery,
      get leaseEndsAtMs(): number {
        checks += 1;
        return checks === 1 ? Infinity : 0;
      },
    };
    const settled = settlements.settle({ delivery: endingLease, exchange });
    const failed = expect(settled).rejects.toThrow('PostgreSQL is unavailable.');
    const outage = new DependencyUnavailable('PostgreSQL is unavailable.');
    (await settleAttempts.untilBatch(0)).fail(outage);
    (await settleAttempts.untilBatch(1)).fail(outage);
    await failed;
  });
});
