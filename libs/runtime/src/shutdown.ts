import type { Logger } from './logger.js';

type Step = { readonly name: string; readonly stop: () => Promise<unknown> };

/**
 * Graceful shutdown: on SIGTERM or SIGINT the steps run one after another, the last added first, so that the
 * HTTP port closes before the connection pool that it needs.
 */
export class Shutdown {
  private readonly logger: Logger;
  private readonly deadlineMs: number;
  private readonly steps: Step[] = [];
  private running: Promise<void> | undefined;

  constructor(logger: Logger, deadlineMs = 20_000) {
    this.logger = logger;
    this.deadlineMs = deadlineMs;
  }

  add(name: string, stop: () => Promise<unknown>): void {
    this.steps.push({ name, stop });
  }

  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        this.logger.info({ signal }, 'Stopping.');
        void this.run().then(() => process.exit(0));
      });
    }
  }

  run(): Promise<void> {
    this.running ??= this.runSteps();
    return this.running;
  }

  private async runSteps(): Promise<void> {
    const deadline = setTimeout(() => {
      this.logger.error('Shutdown timed out; exiting with open connections or work.');
      process.exit(1);
    }, this.deadlineMs);
    deadline.unref();
    for (const { name, stop } of this.steps.toReversed()) {
      try {
        await stop();
      } catch (error) {
        this.logger.error({ error, step: name }, 'A component did not stop cleanly.');
      }
    }
    clearTimeout(deadline);
  }
}
