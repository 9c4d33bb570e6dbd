import { eventually, otlpCollector } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { createLogger } from '../logger.js';
import { metrics } from '../metrics.js';
import { inSpan } from './in-span.js';
import { collectorHeaders, tracingSettings } from '../settings/tracing-settings.js';
import { startTracing } from './start-tracing.js';
import { isTracing } from './tracer.js';

const stopTimeoutMs = 50;
const queueSize = 512;
const spanCount = 3 * queueSize;

const silent = createLogger('test', 'silent');
const start = (
  settings: Readonly<Record<string, string>>,
  { logger = silent, exportTimeoutMs = 60_000 } = {},
) => {
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = String(exportTimeoutMs);
  return startTracing(
    'test-service',
    tracingSettings.parse({
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_BSP_MAX_QUEUE_SIZE: String(queueSize),
      ...settings,
    }),
    logger,
    stopTimeoutMs,
  );
};
const work = () =>
  inSpan(
    () => ({
      name: 'work',
      kind: 'client',
      attributes: { 'order.id': 'ord_1', 'http.response.status_code': 201 },
    }),
    () => Promise.resolve('done'),
  );
const countDropped = async (reason: string): Promise<number> => {
  const metric = await metrics.getSingleMetric('trace_spans_dropped_total')?.get();
  return metric?.values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
};

describe('tracing', () => {
  /** An export that gets no response must not keep the test process alive. */
  const withoutResponse = { exportTimeoutMs: 300 };

  it('counts dropped spans from 0, so that the first one is an increase', async () => {
    metrics.resetMetrics();
    const tracing = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    const values = (await metrics.getSingleMetric('trace_spans_dropped_total')?.get())?.values ?? [];
    expect(values.map(({ labels, value }) => [labels['reason'], value])).toEqual([
      ['queue_full', 0],
      ['export_failed', 0],
    ]);
    await tracing.stop();
  });

  it('sends spans to the collector, with the headers and the name of the service', async () => {
    const collector = await otlpCollector();
    const tracing = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=sec%20ret, tenant=t',
    });
    expect(await work()).toBe('done');
    const [span] = await eventually(() => (collector.spans.length > 0 ? collector.spans : undefined));
    expect(span).toMatchObject({
      service: 'test-service',
      name: 'work',
      parentSpanId: '',
      attributes: { 'order.id': 'ord_1', 'http.response.status_code': 201 },
    });
    expect(collector.headers).toMatchObject({ 'api-key': 'sec ret', tenant: 't' });
    await tracing.stop();
    await collector.stop();
  });

  it.each(['api-key', 'api-key=1,tenant', '=1', 'api-key=%zz'])('rejects the headers "%s"', (headers) => {
    const { error } = tracingSettings.safeParse({ OTEL_EXPORTER_OTLP_HEADERS: headers });
    expect(error?.issues[0]?.message).toBe('must be NAME=VALUE,NAME=VALUE, percent-encoded');
  });

  it('accepts a comma after the last header', () => {
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=1,' };
    expect(collectorHeaders(tracingSettings.parse(headers))).toEqual({ 'api-key': '1' });
  });

  it('sends waiting spans when it stops', async () => {
    const collector = await otlpCollector();
    const tracing = await startTracing(
      'test-service',
      tracingSettings.parse({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/traces` }),
      silent,
      60_000,
    );
    await work();
    await tracing.stop();
    expect(collector.spans).toHaveLength(1);
    expect(isTracing()).toBe(false);
    await collector.stop();
  });

  it('drops and counts spans while the collector does not respond, and stops without it', async () => {
    const collector = await otlpCollector({ respond: () => undefined });
    const [before, failed] = [await countDropped('queue_full'), await countDropped('export_failed')];
    const tracing = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, withoutResponse);
    for (let count = 0; count < spanCount; count += 1) expect(await work()).toBe('done');
    // One batch of 512 spans was sent, and 512 spans wait in the queue.
    expect((await countDropped('queue_full')) - before).toBe(spanCount - 2 * queueSize);
    await tracing.stop();
    await collector.stop();
    await eventually(async () => (await countDropped('export_failed')) > failed);
  });

  it('waits for the collector for 2 s when it stops', async () => {
    const collector = await otlpCollector({ respond: () => undefined });
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '300'; // an export must not keep the test process alive
    const tracing = await startTracing(
      'test-service',
      tracingSettings.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
      silent,
    );
    await work();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const stopping = tracing.stop();
    const [endWait] = timers.mock.calls.find(([, delayMs]) => delayMs === 2_000) ?? [];
    timers.mockRestore();
    endWait?.();
    await stopping;
    expect(endWait).toBeDefined();
    await collector.stop();
  });

  it('drops and counts spans that the collector rejects, and logs that once', async () => {
    const lines: string[] = [];
    const logger = createLogger('test', 'warn', { write: (line) => lines.push(line) });
    const collector = await otlpCollector({ respond: (response) => response.writeHead(400).end() });
    const before = await countDropped('export_failed');
    const tracing = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, { logger });
    for (const count of [1, 2]) {
      await work();
      await eventually(async () => (await countDropped('export_failed')) >= before + count);
    }
    expect(lines).toHaveLength(1);
    await tracing.stop();
    await collector.stop();
  });

  it('lets work succeed, and stops, while no collector listens', async () => {
    const collector = await otlpCollector();
    await collector.stop();
    const tracing = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, withoutResponse);
    for (let count = 0; count < spanCount; count += 1) expect(await work()).toBe('done');
    await tracing.stop();
    expect(isTracing()).toBe(false);
  });

  it("is off without a collector, and only start-tracing.ts loads OpenTelemetry's packages", async () => {
    const tracing = await start({});
    expect(isTracing()).toBe(false);
    await tracing.stop();
    const sources = globSync('{apps,libs}/*/src/**/*.ts', {
      cwd: '../..',
      exclude: (path) => path.includes('testing'),
    });
    // Imports of types are erased.
    const loadingImport = /^(?:import|export) (?!type )[^;]*from '@opentelemetry|import\('@opentelemetry/m;
    const loading = sources.filter((path) => loadingImport.test(readFileSync(`../../${path}`, 'utf8')));
    expect(loading).toEqual(['libs/runtime/src/tracing/start-tracing.ts']);
  });
});
