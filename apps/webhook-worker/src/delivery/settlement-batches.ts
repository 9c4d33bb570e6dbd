import { isOutage } from '@fulfilment/error-envelope';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, SettleAttempts } from './settle-attempts.js';

const maxBatchSize = 200;
/** A batch is written in 5 to 20 ms. One that takes longer waits for something, and the next one starts. */
const slowBatchMs = 50;
const maxBatches = 3;
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
 * second, in batches of 50 it settles 12 000 (docs/adr/0006). A slow batch does not stop the other tenants: the next one starts beside it.
 * The attempts of one subscription are never in two batches at once.
 */
@Injectable()
export class Settlements {
  private waiting: Waiting[] = [];
  private readonly inBatches = new Set<string>();
  private batches = 0;
  private slowBatches = 0;
  private isStarting = false;

  constructor(
    @Inject(SettleAttempts) private readonly settleAttempts: Pick<SettleAttempts, 'run'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves when it is committed. Rejects when that did not succeed while the lease lasted. */
  settle(attempt: Attempt): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ attempt, done, failed, retryMs: lockedRetryMs.first });
      this.startNextBatch();
    });
  }

  /** Starts it after the current tick, since several attempts often end in one. */
  private startNextBatch(): void {
    if (this.isStarting || !this.mayStart()) return;
    this.isStarting = true;
    setImmediate(() => {
      this.isStarting = false;
      if (this.mayStart()) void this.work(this.takeBatch());
    });
  }

  private mayStart(): boolean {
    return this.waiting.length > 0 && this.batches < maxBatches && this.batches === this.slowBatches;
  }

  private takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    for (const waiting of this.waiting) {
      const isReady = batch.length < maxBatchSize && !this.inBatches.has(subscriptionOf(waiting));
      (isReady ? batch : left).push(waiting);
    }
    this.waiting = left;
    return batch;
  }

  private async work(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const subscriptions = batch.map(subscriptionOf);
    for (const id of subscriptions) this.inBatches.add(id);
    this.batches += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.slowBatches += 1;
      this.startNextBatch();
    }, slowBatchMs);
    try {
      await this.settleBatch(batch);
    } catch (error) {
      await this.handleFailure(batch, error);
    }
    clearTimeout(timer);
    this.batches -= 1;
    if (isSlow) this.slowBatches -= 1;
    for (const id of subscriptions) this.inBatches.delete(id);
    this.startNextBatch();
  }

  /** Settles what belongs to subscriptions that are not locked, and leaves the rest for later. */
  private async settleBatch(batch: readonly Waiting[]): Promise<void> {
    const locked = await this.settleAttempts.run(batch.map(({ attempt }) => attempt));
    for (const waiting of batch) {
      if (locked.has(subscriptionOf(waiting))) void this.retryLater(waiting);
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
    this.startNextBatch();
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

function subscriptionOf({ attempt }: Waiting): string {
  return attempt.delivery.subscriptionId;
}

function hasNoLease({ attempt }: Waiting): boolean {
  return attempt.delivery.leaseEndsAtMs <= performance.now();
}
