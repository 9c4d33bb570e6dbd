import { setTimeout as delay } from 'node:timers/promises';
import { BackgroundLoop } from './background-loop.js';
import type { Logger } from '../logger.js';
import { PollLimit } from './poll-limit.js';

export interface SlotLoopOptions<Item> {
  readonly name: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  /** Maximum number of concurrent items. */
  readonly slots: number;
  /** Claims at most `max` due items, so that no other replica claims them. */
  readonly claim: (max: number) => Promise<readonly Item[]>;
  /**
   * Processes an item in bounded time. A failure is logged.
   * @param stopping aborts when the loop stops; the work should then leave the item to another replica
   */
  readonly work: (item: Item, stopping: AbortSignal) => Promise<void>;
}

/** Processes due items concurrently. A free slot gets the next item without waiting for the others. */
export class SlotLoop<Item> extends BackgroundLoop {
  private readonly running = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly pollLimit = new PollLimit();
  private readonly options: SlotLoopOptions<Item>;

  constructor(options: SlotLoopOptions<Item>) {
    const { name, intervalMs, logger } = options;
    super({ name, intervalMs, logger, round: () => this.waitAndFillSlots() });
    this.options = options;
  }

  /** Claims no more items. Resolves when the current ones have ended. */
  override async stop(): Promise<void> {
    this.stopping.abort();
    await super.stop();
    await Promise.all(this.running);
  }

  /** Processes all items that are due now, without the loop. */
  async processDue(): Promise<void> {
    let mayHaveMore = true;
    while (mayHaveMore) mayHaveMore = await this.fillSlots();
    await Promise.all(this.running);
  }

  /** Waits for the end of the pause, so that a wake-up during it is not lost. */
  private async waitAndFillSlots(): Promise<boolean> {
    const { signal } = this.stopping;
    if (this.pollLimit.isPaused)
      await delay(this.pollLimit.pauseMs, undefined, { signal }).catch(() => undefined);
    return signal.aborted ? false : this.fillSlots();
  }

  /** Claims items for the free slots, or waits for a free slot. Returns whether there may be more items. */
  private async fillSlots(): Promise<boolean> {
    const free = this.options.slots - this.running.size;
    if (free === 0) {
      await Promise.race(this.running);
      return true;
    }
    const items = await this.pollLimit.run(() => this.options.claim(free));
    for (const item of items) this.startWork(item);
    if (items.length < free) return false;
    this.pollLimit.reset();
    return true;
  }

  private startWork(item: Item): void {
    const { work, logger, name } = this.options;
    const settled = work(item, this.stopping.signal)
      .catch((error: unknown) => logger.error({ error, loop: name }, 'An item of a background loop failed.'))
      .finally(() => this.running.delete(settled));
    this.running.add(settled);
  }
}
