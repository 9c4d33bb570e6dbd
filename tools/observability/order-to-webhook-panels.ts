import type { Panel } from './grafana.ts';
import {
  age,
  charges,
  deadLetters,
  increase,
  messagesHandled,
  oldestDeferredEvent,
  oldestDueDelivery,
  oldestWaitingOrder,
  perSecond,
  quantile,
  queueBacklog,
  withAlert,
} from './panel-shapes.ts';

/** Panels of the steps of an order, in their order. */
export function orderToWebhookRows(): Readonly<Record<string, readonly Panel[]>> {
  return { 'Placing the order': orders, 'Publishing and consuming messages': messages, Webhooks: webhooks };
}

const orders: readonly Panel[] = [
  {
    title: 'Orders placed',
    unit: 'ops',
    queries: { '{{outcome}}': perSecond('orders_placed_total', 'outcome') },
  },
  charges,
  age(
    'Age of the oldest order that waits for the payment provider',
    'max(orders_pending_oldest_seconds)',
    'OrdersPending',
  ),
];

const messages: readonly Panel[] = [
  withAlert(
    {
      title: 'Age of the oldest message in the outbox',
      unit: 's',
      queries: { '{{job}}': 'max by (job) (outbox_oldest_seconds)' },
    },
    'OutboxStuck',
  ),
  {
    title: 'Messages published',
    unit: 'ops',
    queries: { '{{job}}': perSecond('outbox_published_total', 'job') },
  },
  queueBacklog(),
  messagesHandled(),
  deadLetters(),
  oldestWaitingOrder,
  oldestDeferredEvent,
];

const webhooks: readonly Panel[] = [
  oldestDueDelivery,
  {
    title: 'Time from the event to the first attempt',
    unit: 's',
    queries: {
      p50: quantile(0.5, 'webhook_event_to_first_attempt_seconds'),
      p99: quantile(0.99, 'webhook_event_to_first_attempt_seconds'),
    },
    alerts: ['DeliveryTimeBudgetBurns'],
    threshold: 5, // seconds: the service level of webhooks
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
      '{{outcome}}': quantile(0.99, 'webhook_attempt_duration_seconds', 'outcome, le'),
    },
    exemplars: true,
  },
  {
    title: 'Subscriptions disabled in an hour',
    unit: 'short',
    queries: { '{{reason}}': increase('webhook_subscriptions_disabled_total', 'reason', '1h') },
  },
  {
    title: 'Deliveries held for disabled subscriptions',
    unit: 'short',
    queries: { deliveries: 'max(webhook_held_deliveries)' },
  },
];
