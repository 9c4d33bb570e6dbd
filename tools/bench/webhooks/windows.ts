import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { alternate, comparisonFigures } from '../rounds.ts';
import { type DeliveringWorker, subscribe } from './delivering-worker.ts';
import type { ReceiverProcess } from './receiver-process.ts';

const deliveryCount = 400;

/**
 * Compares two subscriptions whose receiver responds after 100 ms. One allows eight requests at a time; the
 * other has an adaptive window.
 */
export async function benchWindows(
  context: BenchContext,
  worker: DeliveringWorker,
  { origin }: ReceiverProcess,
): Promise<Figure[]> {
  const adaptive = await subscribe(worker.service, origin, '/far/0');
  const eight = await subscribe(worker.service, origin, '/far/1', { max_in_flight: 8 });
  const rounds = await alternate(
    [
      { name: 'adaptive window', measure: () => worker.measureFromBacklog([adaptive], deliveryCount) },
      { name: 'eight at a time', measure: () => worker.measureFromBacklog([eight], deliveryCount) },
    ],
    context.rounds,
  );
  const name = 'deliveries to one receiver with 100 ms latency, ratio to at most eight at a time';
  return comparisonFigures(
    name,
    rounds,
    { numerator: 'adaptive window', denominator: 'eight at a time' },
    { atLeast: 3 },
  );
}
