import {
  eventually,
  groupLabelsOf,
  startPrometheus,
  type PrometheusServer,
  selectorsOf,
} from '@fulfilment/testing';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root, suite } from '../suite/the-suite.js';

const program = (process.env.PATH ?? '')
  .split(':')
  .concat('/usr/bin', '/usr/local/bin')
  .map((folder) => join(folder, 'prometheus'))
  .find((path) => existsSync(path));
const withPrometheus = program === undefined ? describe.skip : describe;
const skipped = program === undefined ? " (SKIPPED: Debian's package prometheus is not installed)" : '';

const observability = join(root, 'deploy', 'observability');
const dashboardShape = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
});
/** The queries of the rules that Prometheus has loaded. */
const ruleQueries = z
  .object({ groups: z.array(z.object({ rules: z.array(z.object({ query: z.string() })) })) })
  .transform(({ groups }) => groups.flatMap((group) => group.rules.map(({ query }) => query)));
const dashboardQueries = globSync('dashboards/*.json', { cwd: observability }).flatMap((path) =>
  dashboardShape
    .parse(JSON.parse(readFileSync(join(observability, path), 'utf8')))
    .panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'))),
);
/** Metrics that Prometheus itself creates. */
const ownSeries = new Set(['up', 'ALERTS']);

const missingLabels = (labels: readonly string[], known: ReadonlySet<string>): string[] =>
  labels.filter((label) => !known.has(label));

withPrometheus(`a Prometheus that scrapes the suite${skipped}`, () => {
  let prometheus: PrometheusServer;
  let queries: readonly string[];
  beforeAll(async () => {
    const targets = Object.entries(suite.services).map(
      ([name, { metrics_url }]) => [name, new URL(metrics_url).host] as const,
    );
    const ruleFiles = [join(observability, 'alerts.yaml')];
    prometheus = await startPrometheus(program ?? '', Object.fromEntries(targets), ruleFiles);
    await eventually(async () => {
      const up = await prometheus
        .read('query', { query: `count(up == 1) == ${targets.length}` })
        .catch(() => undefined);
      return z.object({ result: z.array(z.unknown()).nonempty() }).safeParse(up).success;
    });
    queries = [...new Set([...dashboardQueries, ...ruleQueries.parse(await prometheus.read('rules'))])];
  });
  afterAll(() => prometheus.stop());

  it('evaluates every query of the dashboards and every alert', async () => {
    const failures: string[] = [];
    for (const query of queries) {
      await prometheus
        .read('query', { query })
        .catch((error: unknown) => failures.push(`${query}: ${String(error)}`));
    }
    expect(queries.length).toBeGreaterThan(100); // otherwise the dashboards or rules were not read
    expect(failures).toEqual([]);
  });

  it('has every metric of the dashboards and alerts, with the labels by which they select and group', async () => {
    const declared = z.record(z.string(), z.unknown()).parse(await prometheus.read('metadata'));
    const labelsByMetric = new Map<string, ReadonlySet<string>>();
    const problems: string[] = [];
    for (const query of queries) {
      const selectors = selectorsOf(query).filter(({ metric }) => !ownSeries.has(metric));
      for (const { metric, labels } of selectors) {
        const known = labelsByMetric.get(metric) ?? (await labelsOf(metric));
        labelsByMetric.set(metric, known);
        // OpenMetrics declares a counter without `_total`, a histogram without `_count`, `_sum`, `_bucket`.
        const name = metric.replace(/_(total|count|sum|bucket)$/, '');
        if (known.size > 0)
          problems.push(...missingLabels(labels, known).map((label) => `no ${label} of ${metric}`));
        else if (declared[metric] === undefined && declared[name] === undefined)
          problems.push(`no ${metric}`);
      }
      const labelSets = selectors.map(({ metric }) => labelsByMetric.get(metric) ?? new Set<string>());
      // The labels by which a query groups can be checked only if each of its metrics has samples.
      if (selectors.length > 0 && labelSets.every((labels) => labels.size > 0)) {
        const known = new Set(labelSets.flatMap((labels) => [...labels]));
        problems.push(
          ...missingLabels(groupLabelsOf(query), known).map((label) => `${query} groups by ${label}`),
        );
      }
    }
    // Otherwise hardly any metric had samples, and no labels were compared.
    expect([...labelsByMetric.values()].filter((labels) => labels.size > 0).length).toBeGreaterThan(20);
    expect(problems).toEqual([]);
  });

  /** Returns the labels of all series of a metric; none if it has no samples yet. */
  async function labelsOf(metric: string): Promise<ReadonlySet<string>> {
    const data = await prometheus.read('series', { 'match[]': metric });
    return new Set(z.array(z.record(z.string(), z.string())).parse(data).flatMap(Object.keys));
  }
});
