import type { Panel } from './grafana.ts';

/** PromQL: the increase of a counter per second, by labels. */
export const perSecond = (counter: string, by = ''): string =>
  `${sumBy(by)}(rate(${counter}[$__rate_interval]))`;

/** PromQL: the increase of a counter in a period, by labels. */
export const increase = (counter: string, by: string, period: string): string =>
  `${sumBy(by)}(increase(${counter}[${period}]))`;

/** PromQL: a quantile of a histogram. @param by labels, which must include `le` */
export const quantile = (share: number, histogram: string, by = 'le'): string =>
  `histogram_quantile(${share}, ${perSecond(`${histogram}_bucket`, by)})`;

const sumBy = (labels: string): string => (labels === '' ? 'sum' : `sum by (${labels}) `);

/** A panel about the value that one alert compares, with the threshold of this alert. */
export function withAlert(panel: Omit<Panel, 'alerts' | 'threshold'>, alert: string): Panel {
  return { ...panel, alerts: [alert], threshold: alert };
}

/** A time in seconds since something, with the threshold of its alert. */
export function age(title: string, seconds: string, alert: string): Panel {
  return withAlert({ title, unit: 's', queries: { age: seconds } }, alert);
}

/** @param matchers select one service, in braces; by default all */
export const queueBacklog = (matchers = ''): Panel => ({
  title: 'Messages that wait in queues',
  unit: 'short',
  queries: { '{{queue}}': `max by (queue) (messaging_queue_messages${matchers})` },
  alerts: ['QueueBacklog', 'QueueNotConsumed'],
  threshold: 'QueueBacklog',
});

export const messagesHandled = (matchers = ''): Panel => ({
  title: 'Messages handled',
  unit: 'ops',
  queries: { '{{queue}} {{outcome}}': perSecond(`messages_handled_total${matchers}`, 'queue, outcome') },
  alerts: ['MessagesRefused', 'QueueNotConsumed'],
});

export const deadLetters = (matchers = ''): Panel => ({
  title: 'Dead letters',
  unit: 'short',
  queries: { '{{queue}}': `max by (queue) (messaging_dead_letters${matchers})` },
  alerts: ['DeadLettersWaiting', 'DeadLettersForgotten'],
  threshold: 'DeadLettersWaiting',
});

export const charges: Panel = {
  title: 'Charges',
  unit: 'ops',
  queries: { '{{outcome}}': perSecond('payment_charge_requests_total', 'outcome') },
  alerts: ['PaymentsRejected', 'PaymentMethodsUnusable'],
};

export const oldestDeferredEvent: Panel = age(
  'Time since the oldest deferred event arrived',
  'max(deferred_reports_oldest_seconds)',
  'ReportsDeferred',
);

export const oldestWaitingOrder: Panel = age(
  'Time since the oldest waiting order started to wait for the ledger',
  'max(bookings_waiting_oldest_seconds)',
  'BookingsWaiting',
);

export const oldestDueDelivery: Panel = {
  title: 'Time since the oldest delivery became due',
  unit: 's',
  queries: { '{{lane}}': 'max by (lane) (webhook_oldest_due_seconds)' },
  alerts: ['WebhooksLate', 'WebhooksSlowLaneLate'],
  threshold: 'WebhooksLate',
};
