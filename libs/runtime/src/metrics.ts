import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';

/** The registry of the process, served at `/metrics` of the internal port. */
export const metrics = new Registry();

/** Node's metrics: event loop, memory, garbage collection. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics({ register: metrics });
}
