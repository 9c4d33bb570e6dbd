import { BackgroundLoop, BackgroundTask, type Logger } from '@fulfilment/runtime';
import { setTimeout as delay } from 'node:timers/promises';

/** Deletes rows whose lifetime has ended. All replicas may run it. */
export interface CleanupJob {
  /** The rows that it deletes, for logs. */
  readonly name: string;
  /** Time between an empty or failed batch and the next one. */
  readonly intervalMs: number;
  /** Deletes a batch, small enough to hold no lock for long. Returns the number of rows; 0 at the end. */
  readonly deleteBatch: () => Promise<number>;
}

/** Runs each job in a loop of its own: a job that fails or has much to delete does not delay the others. */
export class Cleanup extends BackgroundTask {
  private readonly loops: readonly BackgroundLoop[];
  private readonly stopping = new AbortController();

  constructor(jobs: readonly CleanupJob[], logger: Logger) {
    super();
    this.loops = jobs.map(({ name, intervalMs, deleteBatch }) => {
      const round = () => deleteAndPause(deleteBatch, this.stopping.signal);
      return new BackgroundLoop({ name: `cleanup of ${name}`, intervalMs, logger, round });
    });
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}

/**
 * Pauses after a batch for nine times its duration, so that a job uses at most a tenth of a connection's
 * time. A stop ends the pause. Returns whether there may be more.
 */
async function deleteAndPause(
  deleteBatch: CleanupJob['deleteBatch'],
  stopping: AbortSignal,
): Promise<boolean> {
  const startedAtMs = performance.now();
  if ((await deleteBatch()) === 0) return false;
  const pauseMs = 9 * (performance.now() - startedAtMs);
  await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  return true;
}
