import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.js';
import { Counter } from '../metrics.js';
import { resolveWithin } from '../resolve-within.js';
import { WarningLimit } from '../warning-limit.js';
import {
  collectorHeaders,
  collectorUrl,
  samplerOf,
  type TracingSettings,
} from '../settings/tracing-settings.js';
import { setTracer } from './tracer.js';

const batchSize = 512;
const warnIntervalMs = 60_000;
const exportSucceeded = 0;

const exported = new Counter({
  name: 'trace_spans_exported_total',
  help: 'Spans that the collector accepted.',
});
const dropped = new Counter<'reason'>({
  name: 'trace_spans_dropped_total',
  help: 'Spans that were not recorded: the queue was full (queue_full), or the collector did not accept them (export_failed). Requests are not affected.',
  labelNames: ['reason'],
});

/** The recording of spans by this process. */
export interface Tracing {
  /** Sends the waiting spans. Does not wait longer than a timeout for the collector, 2 s by default. */
  stop(): Promise<void>;
}

/** Records spans and sends them to the collector, if one is set. Its packages are loaded only then. */
export async function startTracing(
  service: string,
  settings: TracingSettings,
  logger: Logger,
  stopTimeoutMs = 2_000,
): Promise<Tracing> {
  const url = collectorUrl(settings);
  if (url === undefined) return { stop: () => Promise.resolve() };
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const { OTEL_BSP_MAX_QUEUE_SIZE: maxQueueSize, OTEL_BSP_SCHEDULE_DELAY: scheduledDelayMillis } = settings;
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service }))
    .merge(detectResources({ detectors: [envDetector] })); // OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
  const exporter = new CountingExporter(
    new OTLPTraceExporter({ url, headers: collectorHeaders(settings) }),
    logger,
  );
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize,
    maxExportBatchSize: batchSize,
    scheduledDelayMillis,
  });
  setTracer({
    resource,
    sampler: samplerOf(settings),
    add: (span) => {
      if (exporter.reservePlace(maxQueueSize)) processor.onEnd(span);
    },
  });
  return {
    stop: async () => {
      setTracer(undefined);
      const shutdown = processor.shutdown().catch(() => undefined);
      await resolveWithin(stopTimeoutMs, shutdown, () => undefined);
    },
  };
}

/** Counts exported and dropped spans. The processor knows how many it drops, but only logs it. */
class CountingExporter implements SpanExporter {
  /** Spans that wait in the processor. */
  private waiting = 0;
  private readonly warnings = new WarningLimit(warnIntervalMs);

  private readonly exporter: SpanExporter;
  private readonly logger: Logger;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.exporter = exporter;
    this.logger = logger;
  }

  /** Reserves a place in the queue for a span. Returns false, and counts it as dropped, if there is none. */
  reservePlace(maxQueueSize: number): boolean {
    if (this.waiting >= maxQueueSize) {
      dropped.inc({ reason: 'queue_full' });
      return false;
    }
    this.waiting += 1;
    return true;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.waiting -= spans.length;
    this.exporter.export(spans, (result) => {
      if (Number(result.code) === exportSucceeded) exported.inc(spans.length);
      else this.fail(spans.length, result.error);
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private fail(count: number, error: unknown): void {
    dropped.inc({ reason: 'export_failed' }, count);
    if (this.warnings.allows())
      this.logger.warn({ error }, 'The collector did not accept spans; they are dropped.');
  }
}
