import type { Panel } from './grafana.ts';

const orders = 'http_request_duration_seconds_count{method="POST",route="/store/v1/orders"}';
const failedOrders =
  'http_request_duration_seconds_count{method="POST",route="/store/v1/orders",status=~"5.."}';
const webhooks = 'webhook_event_to_first_attempt_seconds_count';
const webhooksInTime = 'webhook_event_to_first_attempt_seconds_bucket{le="5"}';

interface ServiceLevel {
  readonly alert: string;
  /** Title of the panel with `badShare`. */
  readonly badShareTitle: string;
  /** Permitted share of bad events. */
  readonly budget: number;
  /** Share of bad events within a period. */
  readonly badShare: (period: string) => string;
}

const ordersPlaced: ServiceLevel = {
  alert: 'OrderErrorBudgetBurns',
  badShareTitle: 'Share of orders with a 5xx',
  budget: 0.001,
  badShare: (period) =>
    // While nothing fails, there is no series of failures.
    `(sum(rate(${failedOrders}[${period}])) or vector(0)) / sum(rate(${orders}[${period}]))`,
};
const webhooksSent: ServiceLevel = {
  alert: 'DeliveryTimeBudgetBurns',
  badShareTitle: 'Share of late first attempts',
  budget: 0.01,
  badShare: (period) => `1 - sum(rate(${webhooksInTime}[${period}])) / sum(rate(${webhooks}[${period}]))`,
};

export function serviceLevelRows(): Readonly<Record<string, readonly Panel[]>> {
  return {
    'Orders: 99.9 % are placed without a 5xx': panels(ordersPlaced),
    'Webhooks: 99 % of the first attempts start within 5 s of the event': panels(webhooksSent),
    Alerts: [
      {
        title: 'Alerts of service levels',
        unit: 'short',
        type: 'table',
        queries: { '': `ALERTS{alertname=~"${ordersPlaced.alert}|${webhooksSent.alert}"}` },
        alerts: [ordersPlaced.alert, webhooksSent.alert],
      },
      {
        title: 'All alerts of the suite',
        description: 'The runbook has a section for each.',
        unit: 'short',
        type: 'table',
        queries: { '': 'sum by (alertname, alertstate, severity, job) (ALERTS)' },
      },
    ],
  };
}

/** The burn rate that uses the budget of a month in two days. */
const fastBurnRate = 14.4;

function panels({ alert, badShareTitle, budget, badShare }: ServiceLevel): readonly Panel[] {
  const periods = ['5m', '1h', '6h', '3d'];
  return [
    {
      title: 'Burn rate of the error budget',
      description: `At 1, a month uses exactly its budget; at ${fastBurnRate}, the budget of a month ends in two days.`,
      unit: 'short',
      queries: Object.fromEntries(periods.map((period) => [period, `(${badShare(period)}) / ${budget}`])),
      alerts: [alert],
      threshold: fastBurnRate,
    },
    {
      title: badShareTitle,
      unit: 'percentunit',
      queries: { '5m': badShare('5m'), '1h': badShare('1h') },
      alerts: [alert],
      threshold: budget * fastBurnRate,
    },
    {
      title: 'Remaining error budget of 30 days',
      description: 'Needs 30 days of metrics. With fewer, it shows the budget of the recorded days.',
      unit: 'percentunit',
      queries: { left: `clamp_min(1 - (${badShare('30d')}) / ${budget}, 0)` },
      alerts: [alert],
    },
  ];
}
