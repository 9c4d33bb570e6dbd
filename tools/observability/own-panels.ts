import type { Panel } from './grafana.ts';

export type ServiceName = (typeof services)[number];
export const services = ['store-api', 'creator-api', 'auth-server', 'webhook-worker'] as const;

const shards = (service: string): Panel => ({
  title: 'Shards of background work with an owner',
  description: 'A service has 16.',
  unit: 'short',
  queries: { shards: `sum(background_shards_owned{job="${service}"})` },
  alerts: ['ShardsWithoutOwner'],
});

/** What only one service measures. */
export const ownPanels: Readonly<Record<ServiceName, readonly Panel[]>> = {
  'store-api': [
    {
      title: 'Charges',
      unit: 'ops',
      queries: { '{{outcome}}': 'sum by (outcome) (rate(payment_charge_requests_total[$__rate_interval]))' },
      alerts: ['PaymentsRejected', 'PaymentMethodsUnusable'],
    },
    {
      title: 'Replicas whose payment circuit is open',
      unit: 'short',
      queries: { replicas: 'sum(payment_circuit_open)' },
      alerts: ['PaymentsSuspended'],
    },
    {
      title: 'Age of the oldest pending order',
      unit: 's',
      queries: { age: 'max(orders_pending_oldest_seconds)' },
      alerts: ['OrdersPending'],
      threshold: 'OrdersPending',
    },
    {
      title: 'Refunds that are due',
      unit: 'short',
      queries: { refunds: 'max(refunds_owed)' },
    },
    {
      title: 'Time since the oldest refund became due',
      unit: 's',
      queries: { age: 'max(refunds_owed_oldest_seconds)' },
      alerts: ['RefundsOwed'],
      threshold: 'RefundsOwed',
    },
    {
      title: 'Differences from the payment provider, per day',
      unit: 'short',
      queries: { '{{kind}}': 'sum by (kind) (increase(payment_reconciliation_findings_total[1d]))' },
      alerts: ['PaymentsDiffer'],
    },
    {
      title: 'Time since the end of the reconciled period',
      unit: 's',
      queries: { age: 'time() - max(payment_reconciled_until_seconds)' },
      alerts: ['PaymentsNotCompared'],
      threshold: 'PaymentsNotCompared',
    },
    {
      title: 'Time since the oldest deferred event arrived',
      unit: 's',
      queries: { age: 'max(deferred_reports_oldest_seconds)' },
      alerts: ['ReportsDeferred'],
      threshold: 'ReportsDeferred',
    },
    {
      title: 'Pieces sold beyond the stock',
      unit: 'short',
      queries: { pieces: 'max(stock_oversold_pieces)' },
      alerts: ['StockOversold'],
      threshold: 'StockOversold',
    },
  ],
  'creator-api': [
    {
      title: 'Time since the oldest waiting order started to wait for the ledger',
      unit: 's',
      queries: { age: 'max(bookings_waiting_oldest_seconds)' },
      alerts: ['BookingsWaiting'],
      threshold: 'BookingsWaiting',
    },
    {
      title: 'Orders that wait for the ledger',
      unit: 'short',
      queries: { orders: 'max(bookings_waiting)' },
    },
    {
      title: 'Age of the newest exchange rate',
      unit: 's',
      queries: { age: 'max(exchange_rates_newest_age_seconds)' },
      alerts: ['ExchangeRatesOld'],
      threshold: 'ExchangeRatesOld',
    },
    {
      title: 'Track uploads processed',
      unit: 'ops',
      queries: { '{{outcome}}': 'sum by (outcome) (rate(track_upload_runs_total[$__rate_interval]))' },
    },
    {
      title: 'Time since the oldest track upload became due',
      unit: 's',
      queries: { age: 'max(track_uploads_oldest_due_seconds)' },
      alerts: ['TrackUploadsLate'],
      threshold: 'TrackUploadsLate',
    },
    shards('creator-api'),
  ],
  'auth-server': [
    {
      title: 'Failed and locked sign-ins',
      unit: 'short',
      queries: {
        '{{event}}':
          'sum by (event) (increase(audit_events_total{event=~"sign_in_failed|second_factor_failed|sign_in_locked"}[15m]))',
      },
      alerts: ['SignInsFail', 'SignInsLocked'],
    },
    {
      title: 'Rejected clients, and ended families of tokens',
      unit: 'short',
      queries: {
        '{{event}}':
          'sum by (event) (increase(audit_events_total{event=~"client_authentication_failed|introspection_rejected|token_family_ended"}[15m]))',
      },
      alerts: ['ClientsRejected', 'TokensReused'],
    },
    {
      title: 'Attempts rejected without verification',
      unit: 'ops',
      queries: { '{{by}}': 'sum by (by) (rate(sign_in_locked_attempts_total[$__rate_interval]))' },
    },
    {
      title: 'Audit records that were lost',
      unit: 'short',
      queries: { '{{event}}': 'sum by (event) (increase(audit_records_lost_total[10m]))' },
      alerts: ['AuditRecordsLost'],
    },
  ],
  'webhook-worker': [
    {
      title: 'Time since the oldest delivery became due',
      unit: 's',
      queries: { '{{lane}}': 'max by (lane) (webhook_oldest_due_seconds)' },
      alerts: ['WebhooksLate', 'WebhooksSlowLaneLate'],
      threshold: 'WebhooksLate',
    },
    {
      title: 'Attempts by outcome',
      unit: 'ops',
      queries: {
        '{{outcome}}': 'sum by (outcome) (rate(webhook_attempt_duration_seconds_count[$__rate_interval]))',
      },
    },
    {
      title: 'Failures on our side',
      unit: 'short',
      queries: { '{{outcome}}': 'sum by (outcome) (increase(webhook_own_faults_total[10m]))' },
      alerts: ['WebhookOwnFaults'],
      threshold: 'WebhookOwnFaults',
    },
    {
      title: 'Window of concurrent attempts to a receiver (p50)',
      unit: 'short',
      queries: {
        window:
          'histogram_quantile(0.5, sum by (le) (rate(webhook_window_attempts_bucket[$__rate_interval])))',
      },
    },
    {
      title: 'Subscriptions that the reconciler recovered',
      unit: 'short',
      queries: { '{{instance}}': 'sum by (instance) (increase(webhook_reconciler_recovered_total[1h]))' },
      alerts: ['WebhookWakeUpsLost'],
      threshold: 'WebhookWakeUpsLost',
    },
    {
      title: 'Attempts whose process was lost',
      unit: 'short',
      queries: { attempts: 'sum(increase(webhook_leases_expired_total[15m]))' },
      alerts: ['WebhookWorkersDying'],
    },
    shards('webhook-worker'),
  ],
};
