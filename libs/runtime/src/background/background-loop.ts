import { BackgroundTask } from './background-task.js';
import type { Logger } from '../logger.js';

export interface BackgroundLoopOptions {
  readonly name: string;
  /** Maximum wait for a wake-up, after a round that left no work or failed. */
  readonly intervalMs: number;
  /** Pause before that wait if no work is left; default 0. All wake-ups during the pause cause one round. */
  readonly pauseMs?: number;
  readonly logger: Logger;
  /** Does the work of one round. Returns true if there is more. */
  readonly round: () => Promise<boolean | void>;
}

/**
 * Runs rounds of work. While there is more work, the next round follows immediately. Otherwise, and after a
 * failure, which is logged, the next round waits for a wake-up or the interval. Private members have `#`, so
 * that subclasses may use the same names.
 */
export class BackgroundLoop extends BackgroundTask {
  readonly #options: BackgroundLoopOptions;
  #stopping = false;
  #woken = false;
  #wakeSleeper: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: BackgroundLoopOptions) {
    super();
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Starts the next round now, or after the pause. A wake-up during a round causes another round. */
  wake(): void {
    this.#woken = true;
    this.#wakeSleeper?.();
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wakeSleeper?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { intervalMs, pauseMs = 0 } = this.#options;
    while (!this.#stopping) {
      this.#woken = false;
      const result = await this.#tryRound();
      if (result === 'more' || this.#stopping) continue;
      if (result === 'done' && pauseMs > 0) await this.#sleep(pauseMs, { endsAtWakeUp: false });
      // A wake-up during a failed round is ignored: the next round would probably fail as well.
      const isDue = this.#woken && result === 'done';
      if (!isDue && !this.#stopping) await this.#sleep(intervalMs);
    }
  }

  async #tryRound(): Promise<'more' | 'done' | 'failed'> {
    const { round, logger, name } = this.#options;
    try {
      return (await round()) === true ? 'more' : 'done';
    } catch (error) {
      logger.error({ error, loop: name }, 'A round of a background loop failed; will retry.');
      return 'failed';
    }
  }

  #sleep(ms: number, { endsAtWakeUp } = { endsAtWakeUp: true }): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeSleeper = () => {
        if (endsAtWakeUp || this.#stopping) {
          clearTimeout(timer);
          resolve();
        }
      };
    });
  }
}
