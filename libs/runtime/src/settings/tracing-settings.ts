import { z } from 'zod';
import { secret } from './secret-files.js';
import { integerSetting } from './setting-types.js';

const parentBasedPrefix = 'parentbased_';
const headerPair = /^\s*([^=\s]+)\s*=(.*)$/;
const fixedRatios: Readonly<Record<string, number>> = { always_on: 1, always_off: 0 };

/** Settings of tracing: OpenTelemetry's standard names. */
export const tracingSettings = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Base URL of an OpenTelemetry collector (OTLP over HTTP). Spans are recorded only if this or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set. The exporter also reads the other `OTEL_EXPORTER_OTLP_` variables of OpenTelemetry, for example `_TIMEOUT`, `_COMPRESSION` and `_CERTIFICATE`',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Full URL that spans are sent to; by default `/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine(isHeaderList, 'must be NAME=VALUE,NAME=VALUE, percent-encoded')
    .optional()
    .meta(secret)
    .describe('Headers of the requests to the collector, for example its API key: `NAME=VALUE,NAME=VALUE`'),
  OTEL_SERVICE_NAME: z
    .string()
    .max(100)
    .optional()
    .describe('Name of the service in traces; by default its own name'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe('More attributes of all spans, for example `deployment.environment.name=production`'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'parentbased_always_on',
      'parentbased_traceidratio',
      'parentbased_always_off',
      'always_on',
      'traceidratio',
      'always_off',
    ])
    .default('parentbased_always_on')
    .describe(
      'Which traces are recorded. Parent-based: for a message, the decision of the service that started the trace counts. Requests are always decided here, at random, whatever their `traceparent` says',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of the traces that a `traceidratio` sampler records, from 0 to 1'),
  OTEL_BSP_MAX_QUEUE_SIZE: integerSetting({ min: 512, max: 65_536, default: 4_096 }).describe(
    'Maximum number of spans that wait for the collector, about 2 kB each; further ones are dropped and counted in `trace_spans_dropped_total`',
  ),
  OTEL_BSP_SCHEDULE_DELAY: integerSetting({ min: 10, max: 60_000, default: 5_000 }).describe(
    'Maximum time in milliseconds until spans are sent; a full batch of 512 is sent at once',
  ),
});
export type TracingSettings = z.output<typeof tracingSettings>;

function isHeaderList(text: string): boolean {
  try {
    decodeURIComponent(text);
  } catch {
    return false;
  }
  return text.split(',').every((pair) => pair.trim() === '' || headerPair.test(pair));
}

/** Returns the URL that spans are sent to; undefined if no spans are to be recorded. */
export function collectorUrl(settings: TracingSettings): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesUrl, OTEL_EXPORTER_OTLP_ENDPOINT: base } = settings;
  return tracesUrl ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`);
}

/** Returns the headers of the requests to the collector, which the setting percent-encodes (W3C Baggage). */
export function collectorHeaders({ OTEL_EXPORTER_OTLP_HEADERS: text = '' }: TracingSettings) {
  return Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [, name, value] = headerPair.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name, decodeURIComponent(value.trim())]];
    }),
  );
}

export function samplerOf(settings: TracingSettings) {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share } = settings;
  const ratio = fixedRatios[name.replace(parentBasedPrefix, '')] ?? share;
  return { isParentBased: name.startsWith(parentBasedPrefix), ratio };
}
