import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from '../dev/settings.ts';

export type AlertRule = z.infer<typeof rule>;
const rule = z.object({
  alert: z.string(),
  expr: z.string(),
  annotations: z.object({ summary: z.string(), runbook_url: z.string() }),
});
const rulesFile = z.object({ groups: z.array(z.object({ rules: z.array(rule) })) });

/** The rules of deploy/observability/alerts.yaml. */
export function alertRules(): readonly AlertRule[] {
  const text = readFileSync(join(root, 'deploy', 'observability', 'alerts.yaml'), 'utf8');
  return rulesFile.parse(parse(text)).groups.flatMap(({ rules }) => rules);
}

/** Returns the first bound to which an alert compares a metric: a number, or a product like `14.4 * 0.01`. */
export function thresholdOf({ alert, expr }: AlertRule): number {
  const [, value, factor = '1'] = /[<>] (\d[\d.]*)(?: \* (\d[\d.]*))?/.exec(expr) ?? [];
  if (value === undefined) throw new Error(`${alert} has no threshold.`);
  return Number(value) * Number(factor);
}
