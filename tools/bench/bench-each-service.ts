import type { ServiceName } from '@fulfilment/contracts/permissions';
import { Failure } from '../dev/failure.ts';
import type { Figure } from './figures.ts';

/**
 * Runs the benchmarks of all services, one after another, or only that of `service`.
 * @throws Failure if that service has none
 */
export async function benchEachService(
  benches: Partial<Record<ServiceName, () => Promise<readonly Figure[]>>>,
  service: string | undefined,
): Promise<Figure[]> {
  const selected = Object.entries(benches).filter(([name]) => service === undefined || name === service);
  if (selected.length === 0)
    throw new Failure(`--service must be one of ${Object.keys(benches).join(', ')}.`);
  const figures: Figure[] = [];
  for (const [, bench] of selected) figures.push(...(await bench()));
  return figures;
}
