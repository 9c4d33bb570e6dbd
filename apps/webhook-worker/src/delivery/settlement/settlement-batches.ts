import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, SettleAttempts } from './settle-attempts.js';

const maxBatchSize = 200;
/** A batch normally takes 5 to 20 ms. A slower one is blocked, so the next one starts. */
const slowBatchMs = 50;
const maxBatches = 3;
const outageRetryMs = 200;
/** A row lock normally lasts milliseconds. Each pause is twice as long as the previous one. */
const lockedRetryMs = { first: 5, max: 200 };

interface WaitingAttempt {
  readonly attempt: Attempt;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Delay before the result is written again if the subscription is locked. */
  retryMs: number;
}

/**
 * Group commit: attempts of any subscriptions that end while a batch is being written form the next batch.
 * With one commit per attempt PostgreSQL settles 500 per second, in batches of 50 it settles 12 000
 * (ADR 6). A slow batch does not block other subscriptions: the next one runs concurrently. Attempts
 * of one subscription are never in two batches at once.
 */
@Injectable()
export class SettlementBatches {
  private waiting: WaitingAttempt[] = [];
  /** Ids of the subscriptions whose attempts are in running batches. */
  private readonly inBatches = new Set<string>();
  /** Number of running batches, including the slow ones. */
  private runningBatches = 0;
  private slowBatches = 0;
  /** Whether a batch starts after the current tick. */
  private isStarting = false;

  constructor(
    @Inject(SettleAttempts) private readonly settleAttempts: Pick<SettleAttempts, 'run'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Resolves when the result is committed. Rejects at once if PostgreSQL rejects the result. Rejects at the
   * end of the lease if PostgreSQL was unavailable or the subscription locked until then.
   */
  settle(attempt: Attempt): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ attempt, resolve, reject, retryMs: lockedRetryMs.first });
      this.startNextBatch();
    });
  }

  /** Starts after the current tick, since several attempts often end in the same tick. */
  private startNextBatch(): void {
    if (this.isStarting || !this.mayStart()) return;
    this.isStarting = true;
    setImmediate(() => {
      this.isStarting = false;
      if (this.mayStart()) void this.runBatch(this.takeBatch());
    });
  }

  private mayStart(): boolean {
    const areAllBatchesSlow = this.runningBatches === this.slowBatches;
    return this.waiting.length > 0 && this.runningBatches < maxBatches && areAllBatchesSlow;
  }

  private takeBatch(): WaitingAttempt[] {
    const batch: WaitingAttempt[] = [];
    const remaining: WaitingAttempt[] = [];
    for (const waiting of this.waiting) {
      const isReady = batch.length < maxBatchSize && !this.inBatches.has(subscriptionOf(waiting));
      if (isReady) batch.push(waiting);
      else remaining.push(waiting);
    }
    this.waiting = remaining;
    return batch;
  }

  private async runBatch(batch: readonly WaitingAttempt[]): Promise<void> {
    if (batch.length === 0) return;
    const subscriptions = batch.map(subscriptionOf);
    for (const id of subscriptions) this.inBatches.add(id);
    this.runningBatches += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.slowBatches += 1;
      this.startNextBatch();
    }, slowBatchMs);
    await this.settleOrRetry(batch);
    clearTimeout(timer);
    this.runningBatches -= 1;
    if (isSlow) this.slowBatches -= 1;
    for (const id of subscriptions) this.inBatches.delete(id);
    this.startNextBatch();
  }

  private async settleOrRetry(batch: readonly WaitingAttempt[]): Promise<void> {
    try {
      await this.settleBatch(batch);
    } catch (error) {
      if (error instanceof DependencyUnavailable) await this.retryAfterOutage(batch, error);
      else await this.settleOneByOne(batch, error);
    }
  }

  /** Settles the attempts of subscriptions that are not locked, and retries the others later. */
  private async settleBatch(batch: readonly WaitingAttempt[]): Promise<void> {
    const locked = await this.settleAttempts.run(batch.map(({ attempt }) => attempt));
    for (const waiting of batch) {
      if (locked.has(subscriptionOf(waiting))) void this.retryWhenUnlocked(waiting);
      else waiting.resolve();
    }
  }

  private async retryWhenUnlocked(waiting: WaitingAttempt): Promise<void> {
    await delay(waiting.retryMs);
    if (isLeaseExpired(waiting)) {
      waiting.reject(new Error('The subscription was locked until the lease ended.'));
      return;
    }
    waiting.retryMs = Math.min(2 * waiting.retryMs, lockedRetryMs.max);
    this.waiting.push(waiting);
    this.startNextBatch();
  }

  /** Fails the attempts whose lease has ended, and puts the others at the head of the queue. */
  private async retryAfterOutage(
    batch: readonly WaitingAttempt[],
    error: DependencyUnavailable,
  ): Promise<void> {
    await delay(outageRetryMs);
    const { expired = [], leased = [] } = Object.groupBy(batch, (waiting) =>
      isLeaseExpired(waiting) ? 'expired' : 'leased',
    );
    for (const waiting of expired) waiting.reject(error);
    this.waiting = [...leased, ...this.waiting];
  }

  /** Stores the results of a batch that was rolled back, and fails only the attempts that prevent this. */
  private async settleOneByOne(batch: readonly WaitingAttempt[], batchError: unknown): Promise<void> {
    this.logger.error(
      { error: batchError },
      'The results of a batch of attempts could not be stored; storing them one by one.',
    );
    for (const [index, waiting] of batch.entries()) {
      try {
        await this.settleBatch([waiting]);
      } catch (error) {
        if (error instanceof DependencyUnavailable) {
          await this.retryAfterOutage(batch.slice(index), error);
          return;
        }
        waiting.reject(error);
      }
    }
  }
}

function subscriptionOf({ attempt }: WaitingAttempt): string {
  return attempt.delivery.subscriptionId;
}

function isLeaseExpired({ attempt }: WaitingAttempt): boolean {
  return attempt.delivery.leaseEndsAtMs <= performance.now();
}
