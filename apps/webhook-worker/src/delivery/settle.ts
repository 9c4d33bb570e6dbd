import { isOutage } from '@fulfilment/error-envelope';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, SettleAttempts } from './settle-attempts.js';

const mostInOneCommit = 200;
const retryEveryMs = 200;

interface Waiting {
  readonly attempt: Attempt;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Group commit for the whole process: what comes in while a batch is being written makes the next one. With a commit for each, PostgreSQL settles 500
 * attempts a second; in batches of 50 it is 12 000 (docs/adr/0006).
 */
@Injectable()
export class Settlements {
  private waiting: Waiting[] = [];
  private working: Promise<void> | undefined;

  constructor(
    private readonly settleAttempts: SettleAttempts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves when it is committed. Rejects when that did not succeed while the lease lasted. */
  settle(attempt: Attempt): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ attempt, done, failed });
      this.working ??= this.work().finally(() => {
        this.working = undefined;
      });
    });
  }

  private async work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what ended in the same tick makes one batch
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, mostInOneCommit);
      try {
        await this.settleAttempts.run(batch.map(({ attempt }) => attempt));
        for (const { done } of batch) done();
      } catch (error) {
        await this.handleFailure(batch, error);
      }
    }
  }

  private async handleFailure(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (isOutage(error)) {
      await delay(retryEveryMs);
      this.putBack(batch, error);
    } else {
      this.logger.error({ error }, 'A batch of attempts could not be settled; they are tried one by one.');
      for (const waiting of batch) await this.settleAlone(waiting);
    }
  }

  /** What still has its lease is tried again, ahead of what came later; the rest has failed. */
  private putBack(batch: readonly Waiting[], error: unknown): void {
    const now = performance.now();
    const lasting = batch.filter(({ attempt }) => attempt.delivery.leaseEndsAtMs > now);
    for (const { attempt, failed } of batch) if (attempt.delivery.leaseEndsAtMs <= now) failed(error);
    this.waiting = [...lasting, ...this.waiting];
  }

  private async settleAlone({ attempt, done, failed }: Waiting): Promise<void> {
    try {
      await this.settleAttempts.run([attempt]);
      done();
    } catch (error) {
      failed(error);
    }
  }
}
