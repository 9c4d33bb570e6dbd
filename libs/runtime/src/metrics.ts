import { collectDefaultMetrics } from 'prom-client';

/** `metrics` is the registry of the process, served at `/metrics` of the internal port. */
export { Counter, Gauge, Histogram, register as metrics } from 'prom-client';

/** Node's metrics: event loop, memory, garbage collection. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics();
}
