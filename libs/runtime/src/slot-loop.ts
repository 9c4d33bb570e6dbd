import { BackgroundLoop } from './background-loop.js';
import type { Logger } from './logger.js';

export interface SlotLoopOptions<Item> {
  readonly name: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  /** Most items in hand at a time. */
  readonly slots: number;
  /** Takes at most so many of the items that are due, so that nobody else takes them. */
  readonly take: (most: number) => Promise<readonly Item[]>;
  /**
   * Ends in a bounded time, and soon when the loop is being stopped: it leaves the item for who takes it next. A failure is logged.
   * @param stopping aborts then
   */
  readonly work: (item: Item, stopping: AbortSignal) => Promise<void>;
}

/** Works on what is due, on several items at a time: a slot that is free takes the next one, and waits for no other. */
export class SlotLoop<Item> {
  private readonly options: SlotLoopOptions<Item>;
  private readonly loop: BackgroundLoop;
  private readonly inHand = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(options: SlotLoopOptions<Item>) {
    this.options = options;
    const { name, intervalMs, logger } = options;
    this.loop = new BackgroundLoop({ name, intervalMs, logger, round: () => this.fill() });
  }

  start(): void {
    this.loop.start();
  }

  /** Takes no more, for good. Resolves when what was in hand has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop.stop();
    await Promise.all(this.inHand);
  }

  /** Works on all that is due now. */
  async drain(): Promise<void> {
    while (await this.fill());
    await Promise.all(this.inHand);
  }

  /** Answers whether there may be more. */
  private async fill(): Promise<boolean> {
    const free = this.options.slots - this.inHand.size;
    if (free === 0) {
      await Promise.race(this.inHand);
      return true;
    }
    const items = await this.options.take(free);
    for (const item of items) this.begin(item);
    return items.length === free;
  }

  private begin(item: Item): void {
    const { work, logger, name } = this.options;
    const worked = work(item, this.stopping.signal)
      .catch((error: unknown) => logger.error({ error, loop: name }, 'An item of a loop failed.'))
      .finally(() => this.inHand.delete(worked));
    this.inHand.add(worked);
  }
}
