import { serviceNames } from '@fulfilment/contracts/permissions';
import { grafanaDashboard, type Panel } from './grafana.ts';
import { orderToWebhookRows } from './order-to-webhook-panels.ts';
import { serviceRows } from './service-panels.ts';
import { serviceLevelRows } from './service-level-panels.ts';

/**
 * Address of docs/runbook.md for the links of all panels: the gateway of a suite that `npm start` runs.
 * Operators of another suite replace the host in the JSON files, or in the field "Runbook" of a dashboard.
 */
const runbook = 'https://localhost:8443/docs/operate/runbook/';
export const dashboardsDir = 'deploy/observability/dashboards';

/** The Grafana dashboards in JSON, by their path. */
export function dashboards(): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...serviceNames.map((service) => dashboardFile(service, `Service: ${service}`, serviceRows(service))),
    dashboardFile('order-to-webhook', 'From order to webhook', orderToWebhookRows()),
    dashboardFile('service-levels', 'Service levels', serviceLevelRows()),
  ]);
}

function dashboardFile(name: string, title: string, rows: Readonly<Record<string, readonly Panel[]>>) {
  const model = grafanaDashboard({ uid: `suite-${name}`, title, runbook, rows });
  return [`${dashboardsDir}/${name}.json`, JSON.stringify(model)] as const;
}
