import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type Metric,
  Registry,
  register,
  Summary,
} from 'prom-client';

/** `metrics` is the registry of the process, served at `/metrics` of the internal port. */
export { collectDefaultMetrics, Counter, Gauge, Histogram, register as metrics };

export const openMetricsType = Registry.OPENMETRICS_CONTENT_TYPE;

/** A histogram with exemplars: in OpenMetrics format, each bucket names the trace of its last value. */
export class TraceHistogram extends Histogram<string> {
  constructor(options: Pick<HistogramConfiguration<string>, 'name' | 'help' | 'labelNames' | 'buckets'>) {
    // prom-client accepts exemplars only in an OpenMetrics registry; the registry of the process is classic.
    super({ ...options, enableExemplars: true, registers: [openMetricsRegistry()] });
    register.registerMetric(this);
  }

  /** @param span a recorded span in which the value was measured */
  observeIn(
    span: { readonly traceId: string } | undefined,
    labels: Readonly<Record<string, string>>,
    value: number,
  ): void {
    this.observe({ labels, value, exemplarLabels: span === undefined ? {} : { trace_id: span.traceId } });
  }
}

/** Returns the metrics of the process in the format of OpenMetrics, which has exemplars. */
export async function openMetrics(): Promise<string> {
  const registry = openMetricsRegistry();
  for (const metric of register.getMetricsAsArray()) registry.registerMetric(viewOf(metric));
  return registry.metrics();
}

function openMetricsRegistry() {
  const registry = new Registry<typeof openMetricsType>();
  registry.setContentType(openMetricsType);
  return registry;
}

/** Returns an object that inherits from the metric, because prom-client renames counters for OpenMetrics. */
function viewOf(metric: object): Metric {
  const view: unknown = Object.create(metric);
  if (isMetric(view)) return view;
  throw new Error('The metric is not a counter, gauge, histogram or summary.');
}

function isMetric(value: unknown): value is Metric {
  return [Counter, Gauge, Histogram, Summary].some((type) => value instanceof type);
}
