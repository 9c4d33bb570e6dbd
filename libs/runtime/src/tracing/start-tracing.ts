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
/** OpenTelemetry's ExportResultCode.SUCCESS. */
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
  /** Sends the waiting spans. Waits for the collector until the timeout, 2 s by default. */
  stop(): Promise<void>;
}

/** If a collector is set, loads OpenTelemetry's packages, records spans and sends them to it. */
export async function startTracing(
  service: string,
  settings: TracingSettings,
  logger: Logger,
  stopTimeoutMs = 2_000,
): Promise<Tracing> {
  const url = collectorUrl(settings);
  if (url === undefined) return { stop: () => Promise.resolve() };
  // The first dropped spans are then an increase, which the alert needs.
  for (const reason of ['queue_full', 'export_failed']) dropped.inc({ reason }, 0);
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
      if (exporter.reserveInQueue(maxQueueSize)) processor.onEnd(span);
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

/** Counts exported and dropped spans. The processor itself would drop spans without counting them. */
class CountingExporter implements SpanExporter {
  private spansInQueue = 0;
  private readonly warnings = new WarningLimit(warnIntervalMs);

  private readonly exporter: SpanExporter;
  private readonly logger: Logger;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.exporter = exporter;
    this.logger = logger;
  }

  /** Counts a span as queued and returns true; if the queue is full, as dropped and returns false. */
  reserveInQueue(maxQueueSize: number): boolean {
    if (this.spansInQueue >= maxQueueSize) {
      dropped.inc({ reason: 'queue_full' });
      return false;
    }
    this.spansInQueue += 1;
    return true;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.spansInQueue -= spans.length;
    this.exporter.export(spans, (result) => {
      if (Number(result.code) === exportSucceeded) exported.inc(spans.length);
      else this.countFailed(spans.length, result.error);
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private countFailed(count: number, error: unknown): void {
    dropped.inc({ reason: 'export_failed' }, count);
    if (this.warnings.allows())
      this.logger.warn({ error }, 'The collector did not accept spans; they are dropped.');
  }
}
