import type { ServiceName } from '@fulfilment/contracts/permissions';
import type { Panel } from './grafana.ts';
import {
  age,
  charges,
  increase,
  oldestDeferredEvent,
  oldestDueDelivery,
  oldestWaitingOrder,
  perSecond,
  quantile,
  withAlert,
} from './panel-shapes.ts';

const shards = (service: string): Panel => ({
  title: 'Shards of background work with an owner',
  description: 'All 16 should have an owner.',
  unit: 'short',
  queries: { shards: `sum(background_shards_owned{job="${service}"})` },
  alerts: ['ShardsWithoutOwner'],
});

/** Panels of metrics that only one service has. */
export const ownPanels: Readonly<Record<ServiceName, readonly Panel[]>> = {
  'store-api': [
    charges,
    {
      title: 'Replicas whose payment circuit is open',
      unit: 'short',
      queries: { replicas: 'sum(payment_circuit_open)' },
      alerts: ['PaymentsSuspended'],
    },
    age('Age of the oldest pending order', 'max(orders_pending_oldest_seconds)', 'OrdersPending'),
    {
      title: 'Refunds that are due',
      unit: 'short',
      queries: { refunds: 'max(refunds_owed)' },
    },
    age('Time since the oldest refund became due', 'max(refunds_owed_oldest_seconds)', 'RefundsOwed'),
    {
      title: 'Differences from the payment provider, per day',
      unit: 'short',
      queries: { '{{kind}}': increase('payment_reconciliation_findings_total', 'kind', '1d') },
      alerts: ['PaymentsDiffer'],
    },
    age(
      'Time since the end of the reconciled period',
      'time() - max(payment_reconciled_until_seconds)',
      'PaymentsNotCompared',
    ),
    oldestDeferredEvent,
    withAlert(
      {
        title: 'Pieces sold beyond the stock',
        unit: 'short',
        queries: { pieces: 'max(stock_oversold_pieces)' },
      },
      'StockOversold',
    ),
  ],
  'creator-api': [
    oldestWaitingOrder,
    {
      title: 'Orders that wait for the ledger',
      unit: 'short',
      queries: { orders: 'max(bookings_waiting)' },
    },
    age('Age of the newest exchange rate', 'max(exchange_rates_newest_age_seconds)', 'ExchangeRatesOld'),
    {
      title: 'Runs of track uploads by outcome',
      unit: 'ops',
      queries: { '{{outcome}}': perSecond('track_upload_runs_total', 'outcome') },
    },
    age(
      'Time since the oldest track upload became due',
      'max(track_uploads_oldest_due_seconds)',
      'TrackUploadsLate',
    ),
    shards('creator-api'),
  ],
  'auth-server': [
    {
      title: 'Failed and locked sign-ins',
      unit: 'short',
      queries: {
        '{{event}}': increase(
          'audit_events_total{event=~"sign_in_failed|second_factor_failed|sign_in_locked|second_factor_locked"}',
          'event',
          '15m',
        ),
      },
      alerts: ['SignInsFail', 'SignInsLocked'],
    },
    {
      title: 'Rejected clients and reused tokens',
      unit: 'short',
      queries: {
        '{{event}}': increase(
          'audit_events_total{event=~"client_authentication_failed|introspection_rejected|token_reused"}',
          'event',
          '15m',
        ),
      },
      alerts: ['ClientsRejected', 'TokensReused'],
    },
    {
      title: 'Attempts rejected without verification',
      unit: 'ops',
      queries: { '{{by}}': perSecond('sign_in_locked_attempts_total', 'by') },
    },
    {
      title: 'Lost audit records in 10 minutes',
      unit: 'short',
      queries: { '{{event}}': increase('audit_records_lost_total', 'event', '10m') },
      alerts: ['AuditRecordsLost'],
    },
  ],
  'webhook-worker': [
    oldestDueDelivery,
    {
      title: 'Attempts by outcome',
      unit: 'ops',
      queries: {
        '{{outcome}}': perSecond('webhook_attempt_duration_seconds_count', 'outcome'),
      },
    },
    withAlert(
      {
        title: 'Failures on our side in 10 minutes',
        unit: 'short',
        queries: { '{{outcome}}': increase('webhook_own_faults_total', 'outcome', '10m') },
      },
      'WebhookOwnFaults',
    ),
    {
      title: 'Window of concurrent attempts to a receiver (p50)',
      unit: 'short',
      queries: {
        window: quantile(0.5, 'webhook_window_attempts'),
      },
    },
    withAlert(
      {
        title: 'Subscriptions that the reconciler recovered in an hour',
        unit: 'short',
        queries: { subscriptions: increase('webhook_reconciler_recovered_total', '', '1h') },
      },
      'WebhookWakeUpsLost',
    ),
    {
      title: 'Attempts whose process was lost in 15 minutes',
      unit: 'short',
      queries: { attempts: 'sum(increase(webhook_leases_expired_total[15m]))' },
      alerts: ['WebhookWorkersDying'],
    },
    shards('webhook-worker'),
  ],
};
