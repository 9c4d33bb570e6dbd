import { isOutage } from '@fulfilment/error-envelope';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, SettleAttempts } from './settle-attempts.js';

/** Each has a batch of its own under way. The attempts of one subscription always go to the same loop. */
const loopCount = 3;
const maxBatchSize = 200;
const outageRetryMs = 200;
/** A row lock lasts for milliseconds as a rule: each further pause is twice as long as the one before. */
const lockedRetryMs = { first: 5, max: 200 };

interface Waiting {
  readonly attempt: Attempt;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
  /** Pause before the next try when the subscription is locked. */
  retryMs: number;
}

/**
 * Group commit: attempts that end while a batch is being written make the next batch. With one commit for each attempt PostgreSQL settles 500 a
 * second, in batches of 50 it settles 12 000 (docs/adr/0006). Several loops work independently, so a slow batch does not stop all tenants.
 */
@Injectable()
export class Settlements {
  private readonly loops = new Map<number, SettlementLoop>();

  constructor(
    private readonly settleAttempts: SettleAttempts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves when it is committed. Rejects when that did not succeed while the lease lasted. */
  settle(attempt: Attempt): Promise<void> {
    const index = loopOf(attempt.delivery.subscriptionId);
    const loop = this.loops.get(index) ?? new SettlementLoop(this.settleAttempts, this.logger);
    this.loops.set(index, loop);
    return loop.settle(attempt);
  }
}

/** The last digits of a UUID are random in all versions that are used here. */
function loopOf(subscriptionId: string): number {
  return Number.parseInt(subscriptionId.slice(-4), 16) % loopCount;
}

class SettlementLoop {
  private waiting: Waiting[] = [];
  private working: Promise<void> | undefined;

  constructor(
    private readonly settleAttempts: SettleAttempts,
    private readonly logger: Logger,
  ) {}

  settle(attempt: Attempt): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ attempt, done, failed, retryMs: lockedRetryMs.first });
      this.start();
    });
  }

  private start(): void {
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
  }

  private async work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what ended in the same tick makes one batch
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, maxBatchSize);
      try {
        await this.settleBatch(batch);
      } catch (error) {
        await this.handleFailure(batch, error);
      }
    }
  }

  /** Settles what belongs to subscriptions that are not locked, and leaves the rest for later. */
  private async settleBatch(batch: readonly Waiting[]): Promise<void> {
    const locked = await this.settleAttempts.run(batch.map(({ attempt }) => attempt));
    for (const waiting of batch) {
      if (locked.has(waiting.attempt.delivery.subscriptionId)) void this.retryLater(waiting);
      else waiting.done();
    }
  }

  private async retryLater(waiting: Waiting): Promise<void> {
    await delay(waiting.retryMs);
    if (hasNoLease(waiting)) {
      waiting.failed(new Error('The subscription was locked until the lease ended.'));
      return;
    }
    waiting.retryMs = Math.min(2 * waiting.retryMs, lockedRetryMs.max);
    this.waiting.push(waiting);
    this.start();
  }

  private async handleFailure(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (isOutage(error)) {
      await delay(outageRetryMs);
      this.putBack(batch, error);
    } else {
      this.logger.error({ error }, 'A batch of attempts could not be settled; they are tried one by one.');
      for (const waiting of batch) await this.settleBatch([waiting]).catch(waiting.failed);
    }
  }

  /** What still has its lease is tried again, ahead of what came later; the rest has failed. */
  private putBack(batch: readonly Waiting[], error: unknown): void {
    for (const waiting of batch) if (hasNoLease(waiting)) waiting.failed(error);
    this.waiting = [...batch.filter((waiting) => !hasNoLease(waiting)), ...this.waiting];
  }
}

function hasNoLease({ attempt }: Waiting): boolean {
  return attempt.delivery.leaseEndsAtMs <= performance.now();
}
