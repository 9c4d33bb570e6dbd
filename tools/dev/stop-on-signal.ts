import { exitCodeInterrupted } from './run-program.ts';

/**
 * Calls `stop` at the first signal, and then ends this process. Ignores further signals, since one Ctrl-C
 * arrives several times: from the terminal, and forwarded by bootstrap.mjs.
 */
export function stopOnSignal(stop: () => Promise<unknown>): void {
  let stopping: Promise<unknown> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      stopping ??= stop().finally(() => process.exit(exitCodeInterrupted));
    });
}
