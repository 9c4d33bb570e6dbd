import { groupLabelsOf, selectorsOf } from '@fulfilment/testing';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/settings.ts';

interface RegisteredMetric {
  readonly labels: readonly string[];
  /** The only service that has the metric. Undefined if it is defined in a library. */
  readonly service: string | undefined;
}

const definition = /new (\w*(?:Counter|Gauge|Histogram))(?:<[^>]*>)?\(\{\s*name(?:: '(\w+)')?,([^}]*)\}/g;
const gaugeOfHelper = /\bregisterGauge\(\s*'(\w+)'/g;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Labels that Prometheus adds to each sample. */
const scrapeLabels = ['job', 'instance'];

/** Metrics that the services register, with the series of histograms, and metrics of Prometheus itself. */
export function registeredMetrics(): ReadonlyMap<string, RegisteredMetric> {
  const nodeMetrics = globSync('node_modules/prom-client/lib/metrics/*.js', { cwd: root })
    .flatMap((path) => [...read(path).matchAll(/'((?:nodejs|process)_\w+)'/g)])
    .map(([, name = '']) => [name, { labels: [], service: undefined }] as const);
  const own = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root })
    .filter((path) => !path.endsWith('.spec.ts'))
    .flatMap((path) => metricsOf(read(path), /^apps[/\\]([\w-]+)/.exec(path)?.[1]));
  const up = ['up', { labels: [], service: undefined }] as const;
  const alerts = ['ALERTS', { labels: ['alertname', 'alertstate', 'severity'], service: undefined }] as const;
  return new Map<string, RegisteredMetric>([...nodeMetrics, ...own, up, alerts]);
}

function metricsOf(source: string, service: string | undefined): (readonly [string, RegisteredMetric])[] {
  return [...source.matchAll(definition)].flatMap(([, type = '', name, body = '']) => {
    const labels = namesIn(/labelNames: \[([^\]]*)\]/.exec(body)?.[1] ?? '');
    // A definition without a name is in the helper `registerGauge` of the file. Each call of the helper
    // registers a gauge with these labels.
    const names =
      name === undefined ? [...source.matchAll(gaugeOfHelper)].map(([, gauge = '']) => gauge) : [name];
    return names.flatMap((each) => seriesOf(each, type.endsWith('Histogram'), { labels, service }));
  });
}

function seriesOf(name: string, isHistogram: boolean, metric: RegisteredMetric) {
  if (!isHistogram) return [[name, metric] as const];
  const withBound = { ...metric, labels: [...metric.labels, 'le'] };
  return [
    [`${name}_count`, metric] as const,
    [`${name}_sum`, metric] as const,
    [`${name}_bucket`, withBound] as const,
  ];
}

/** Returns what is wrong with a query: unknown metrics and labels, and metrics that the job does not have. */
export function findProblems(
  query: string,
  metrics: ReadonlyMap<string, RegisteredMetric>,
): readonly string[] {
  const selectors = selectorsOf(query);
  const known = new Set(scrapeLabels);
  const problems = selectors.length === 0 ? ['reads no metric'] : [];
  for (const { metric, labels, job } of selectors) {
    const registered = metrics.get(metric);
    if (registered === undefined) problems.push(`no metric ${metric}`);
    const knownOfMetric = [...scrapeLabels, ...(registered?.labels ?? [])];
    for (const label of knownOfMetric) known.add(label);
    problems.push(
      ...labels.filter((label) => !knownOfMetric.includes(label)).map((label) => `no ${label} of ${metric}`),
    );
    if (job !== undefined && registered?.service !== undefined && registered.service !== job) {
      problems.push(`${job} has no ${metric}`);
    }
  }
  const groups = groupLabelsOf(query).filter((label) => !known.has(label));
  return [...problems, ...groups.map((label) => `groups by ${label}, which no metric of the query has`)];
}

function namesIn(list: string): string[] {
  return [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}
