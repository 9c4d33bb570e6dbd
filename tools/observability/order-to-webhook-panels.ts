import type { Panel } from './grafana.ts';

const perSecond = (metric: string, by: string): string =>
  `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (share: number, histogram: string): string =>
  `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket[$__rate_interval])))`;

/** What an order passes, in its order. */
export function orderToWebhookRows(): Readonly<Record<string, readonly Panel[]>> {
  return { 'Placing the order': orders, 'Publishing and consuming messages': messages, Webhooks: webhooks };
}

const orders: readonly Panel[] = [
  {
    title: 'Orders placed',
    unit: 'ops',
    queries: { '{{outcome}}': perSecond('orders_placed_total', 'outcome') },
  },
  {
    title: 'Charges',
    unit: 'ops',
    queries: { '{{outcome}}': perSecond('payment_charge_requests_total', 'outcome') },
    alerts: ['PaymentsRejected', 'PaymentMethodsUnusable'],
  },
  {
    title: 'Age of the oldest order that waits for the payment provider',
    unit: 's',
    queries: { age: 'max(orders_pending_oldest_seconds)' },
    alerts: ['OrdersPending'],
    threshold: 'OrdersPending',
  },
];

const messages: readonly Panel[] = [
  {
    title: 'Age of the oldest message in the outbox',
    unit: 's',
    queries: { '{{job}}': 'max by (job) (outbox_oldest_seconds)' },
    alerts: ['OutboxStuck'],
    threshold: 'OutboxStuck',
  },
  {
    title: 'Messages published',
    unit: 'ops',
    queries: { '{{job}}': perSecond('outbox_published_total', 'job') },
  },
  {
    title: 'Messages that wait in queues',
    unit: 'short',
    queries: { '{{queue}}': 'max by (queue) (messaging_queue_messages)' },
    alerts: ['QueueBacklog', 'QueueNotConsumed'],
    threshold: 'QueueBacklog',
  },
  {
    title: 'Messages handled',
    unit: 'ops',
    queries: { '{{queue}} {{outcome}}': perSecond('messages_handled_total', 'queue, outcome') },
    alerts: ['MessagesRefused', 'QueueNotConsumed'],
  },
  {
    title: 'Dead letters',
    unit: 'short',
    queries: { '{{queue}}': 'max by (queue) (messaging_dead_letters)' },
    alerts: ['DeadLettersWaiting'],
    threshold: 'DeadLettersWaiting',
  },
  {
    title: 'Lag of the read models',
    description: 'Age of the oldest fact that a projection has received and cannot apply yet.',
    unit: 's',
    queries: {
      'ledger of creator-api': 'max(bookings_waiting_oldest_seconds)',
      'fulfilment events of store-api': 'max(deferred_reports_oldest_seconds)',
    },
    alerts: ['BookingsWaiting', 'ReportsDeferred'],
    threshold: 'BookingsWaiting',
  },
];

const webhooks: readonly Panel[] = [
  {
    title: 'Time since the oldest delivery became due',
    unit: 's',
    queries: { '{{lane}}': 'max by (lane) (webhook_oldest_due_seconds)' },
    alerts: ['WebhooksLate', 'WebhooksSlowLaneLate'],
    threshold: 'WebhooksLate',
  },
  {
    title: 'Time from the event to the first attempt',
    unit: 's',
    queries: {
      p50: quantile(0.5, 'webhook_event_to_first_attempt_seconds'),
      p99: quantile(0.99, 'webhook_event_to_first_attempt_seconds'),
    },
    alerts: ['DeliveryTimeBudgetBurns'],
    threshold: 5,
    exemplars: true,
  },
  {
    title: 'Attempts by the outcome at the receiver',
    unit: 'ops',
    queries: { '{{outcome}}': perSecond('webhook_attempt_duration_seconds_count', 'outcome') },
  },
  {
    title: 'Duration of attempts (p99)',
    unit: 's',
    queries: {
      '{{outcome}}':
        'histogram_quantile(0.99, sum by (outcome, le) (rate(webhook_attempt_duration_seconds_bucket[$__rate_interval])))',
    },
    exemplars: true,
  },
  {
    title: 'Subscriptions disabled',
    unit: 'short',
    queries: { '{{reason}}': 'sum by (reason) (increase(webhook_subscriptions_disabled_total[1h]))' },
  },
  {
    title: 'Deliveries held for disabled subscriptions',
    unit: 'short',
    queries: { deliveries: 'max(webhook_held_deliveries)' },
  },
];
