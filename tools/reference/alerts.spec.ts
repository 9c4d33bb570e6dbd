import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/settings.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rules = read('deploy/observability/alerts.yaml');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);
/** What the services register, with what Prometheus makes of a histogram's name. */
const metrics = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root })
  .flatMap((path) => [...read(path).matchAll(/(?:\bname: |\bgauge\(\s*)'([a-z]+(?:_[a-z]+)+)',/g)])
  .flatMap(([, name = '']) => [name, `${name}_count`, `${name}_bucket`]);

describe('the alerting rules', () => {
  it('name only metrics that the services have', () => {
    const named = [...rules.matchAll(/\b[a-z]+(?:_[a-z]+)+(?=[{[)])/g)].map(([name]) => name);
    const functions = ['histogram_quantile'];
    const unknown = named.filter((name) => ![...metrics, ...functions].includes(name));
    expect(named.length).toBeGreaterThanOrEqual(alerts.length);
    expect(unknown).toEqual([]);
  });

  it.each(alerts)('say in the runbook what to do about %s', (alert) => {
    expect(read('docs/runbook.md')).toMatch(new RegExp(`^\\| \`${alert}\` +\\|`, 'm'));
  });
});
