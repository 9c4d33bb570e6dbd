import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DrainSubscription } from './drain-subscription.js';
import { type Sleeper, WakeUps } from './wake-ups.js';

const mostAtATime = 100;

/** Drains without BullMQ: while Redis is away, and for what a lost wake-up left behind. */
@Injectable()
export class DirectDrains {
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly drain: DrainSubscription,
    wakeUps: WakeUps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    wakeUps.onRedisAway((sleepers) => this.start(sleepers));
  }

  /** Takes what it has room for; the reconciler comes again for the rest. */
  start(sleepers: readonly Sleeper[]): void {
    for (const sleeper of sleepers) {
      const { subscriptionId } = sleeper;
      if (this.running.has(subscriptionId) || this.running.size >= mostAtATime) continue;
      const run = this.run(sleeper).finally(() => this.running.delete(subscriptionId));
      this.running.set(subscriptionId, run);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.values());
  }

  /** One turn; what is left is due, and found again. */
  private async run(sleeper: Sleeper): Promise<void> {
    try {
      await this.drain.run(sleeper);
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: sleeper.subscriptionId },
        'A drain was interrupted; it will be tried again.',
      );
    }
  }
}
