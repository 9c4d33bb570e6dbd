import { selectorsOf } from '@fulfilment/testing';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { findProgram, runProgram } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { alertRules } from './alert-rules.ts';
import { dashboards } from './dashboards.ts';
import { findProblems, registeredMetrics } from './metrics.fixture.ts';

const folder = join(root, 'deploy', 'observability');
const promtool = findProgram('promtool');
const withPromtool = promtool === undefined ? it.skip : it;
const skipped =
  promtool === undefined ? ' (SKIPPED: promtool of the Debian package prometheus is not installed)' : '';
const metrics = registeredMetrics();
const rules = new Map(alertRules().map((rule) => [rule.alert, rule]));
const alerts = [...rules.keys()];

const dashboard = z.object({
  title: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.string() })) }),
  panels: z.array(
    z.object({
      title: z.string(),
      links: z.array(z.object({ url: z.string() })).default([]),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});
const boards = Object.values(dashboards()).map((text) => dashboard.parse(JSON.parse(text)));
const panels = boards
  .flatMap((board) => board.panels)
  .map(({ title, links, targets }) => ({
    title,
    anchors: links.map(({ url }) => url.split('#')[1] ?? ''),
    queries: targets.map(({ expr }) => expr),
  }));
const sitePages = z
  .array(z.object({ pages: z.array(z.object({ slug: z.string(), file: z.string() })) }))
  .transform((sections) => sections.flatMap((section) => section.pages));
const queries = [...new Set(panels.flatMap((panel) => panel.queries))];

describe('the alerting rules', () => {
  it('name only metrics and labels that the services have', () => {
    const problems = alertRules().flatMap(({ alert, expr }) =>
      findProblems(expr, metrics).map((problem) => `${alert}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it.each(alerts)('link to the section of the runbook about %s', (alert) => {
    expect(rules.get(alert)?.annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    expect(readFileSync(join(root, 'docs', 'runbook.md'), 'utf8')).toMatch(
      new RegExp(`^### ${alert}\n\n\\S`, 'm'),
    );
  });
});

describe('the dashboards', () => {
  it('query only metrics and labels that the services have', () => {
    const problems = queries.flatMap((query) =>
      findProblems(query, metrics).map((problem) => `${query}: ${problem}`),
    );
    expect(queries.length).toBeGreaterThan(panels.length / 2); // otherwise most queries were not found
    expect(problems).toEqual([]);
  });

  it('link to the page of the runbook on the documentation site, by an absolute URL', () => {
    const pages = sitePages.parse(
      JSON.parse(readFileSync(join(root, 'docs', 'site', 'sections.json'), 'utf8')),
    );
    const page = pages.find(({ file }) => file === 'docs/runbook.md');
    for (const { templating } of boards)
      expect(templating.list.find(({ name }) => name === 'runbook')?.query).toBe(
        `https://localhost:8443/docs/${page?.slug}/`,
      );
    const urls = boards.flatMap((board) => board.panels.flatMap(({ links }) => links.map(({ url }) => url)));
    expect(urls.length).toBeGreaterThan(alerts.length / 2); // otherwise most links were not found
    for (const url of urls) expect(url).toMatch(/^\$\{runbook:raw\}#[a-z]+$/);
  });

  it.each(alerts)(
    'link to the section of the runbook about %s, and only from panels that show the alert or a metric of it',
    (alert) => {
      const linked = panels.filter(({ anchors }) => anchors.includes(alert.toLowerCase()));
      const compared = new Set(selectorsOf(rules.get(alert)?.expr ?? '').map(({ metric }) => metric));
      const unrelated = linked.filter((panel) =>
        panel.queries
          .flatMap(selectorsOf)
          .every(({ metric }) => !compared.has(metric) && metric !== 'ALERTS'),
      );
      expect(linked).not.toEqual([]);
      expect(unrelated.map(({ title }) => title)).toEqual([]);
    },
  );

  withPromtool(`query in PromQL that promtool can parse${skipped}`, async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'queries-')), 'rules.json');
    const asRules = queries.map((query, index) => ({
      record: `query_${index}`,
      expr: query.replaceAll('$__rate_interval', '5m'),
    }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboards', rules: asRules }] }));
    try {
      expect(await runProgram(promtool ?? '', ['check', 'rules', file])).toMatchObject({ code: 0 });
    } finally {
      rmSync(dirname(file), { recursive: true });
    }
  });
});

const ruleTests = z
  .object({
    tests: z.array(
      z.object({
        alert_rule_test: z.array(
          z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()).default([]) }),
        ),
      }),
    ),
  })
  .transform(({ tests }) => tests.flatMap((test) => test.alert_rule_test));

describe('the tests of the alerting rules', () => {
  const cases = ruleTests.parse(parse(readFileSync(join(folder, 'alerts.test.yaml'), 'utf8')));

  it.each(alerts)('have a firing and a quiet case of %s', (alert) => {
    const counts = cases.filter(({ alertname }) => alertname === alert).map((test) => test.exp_alerts.length);
    expect(counts).toContain(0);
    expect(Math.max(0, ...counts)).toBeGreaterThan(0);
  });

  withPromtool(`pass in promtool${skipped}`, async () => {
    const tests = ['test', 'rules', join(folder, 'alerts.test.yaml')];
    expect(await runProgram(promtool ?? '', tests)).toMatchObject({ code: 0 });
  });
});
