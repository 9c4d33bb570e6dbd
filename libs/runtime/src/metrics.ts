import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';

/** The process's one registry, shown at `/metrics` of the internal port. */
export const metrics = new Registry();

/** Node's own figures: event loop, memory, collections. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics({ register: metrics });
}
