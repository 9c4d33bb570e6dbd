import { Counter, Gauge, Histogram, TraceHistogram } from '@fulfilment/runtime';

/** Prometheus metrics of deliveries (docs/runbook.md). */
export const deliveryMetrics = {
  eventToFirstAttempt: new TraceHistogram({
    name: 'webhook_event_to_first_attempt_seconds',
    help: 'Time from the business event to the first attempt of a delivery, except for deliveries that were held, recovered or retried manually before.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  }),
  attemptDuration: new TraceHistogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of attempts, by outcome.',
    labelNames: ['outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  }),
  windowSize: new Histogram({
    name: 'webhook_window_attempts',
    help: 'Maximum number of concurrent attempts to the receiver of a batch: its window, which grows while the latency stays flat and shrinks with errors.',
    buckets: [1, 2, 4, 8, 16, 32, 64],
  }),
  localFailures: new Counter({
    name: 'webhook_own_faults_total',
    help: 'Attempts that failed because of our name server, network, limits or a stalled process, by outcome. They do not count against receivers.',
    labelNames: ['outcome'],
  }),
  oldestDue: new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Time since the oldest delivery of an active subscription became due. Alert above 30 in the fast lane and above 3600 in the slow lane, whose receivers are slow themselves.',
    labelNames: ['lane'],
  }),
  held: new Gauge({
    name: 'webhook_held_deliveries',
    help: 'Deliveries held for disabled subscriptions.',
  }),
  leasesExpired: new Counter({
    name: 'webhook_leases_expired_total',
    help: 'Attempts whose process was lost before their result was stored.',
  }),
  wakeUpsLost: new Counter({
    name: 'webhook_reconciler_recovered_total',
    help: 'Subscriptions with due deliveries that no process worked on for seconds because a wake-up was lost.',
  }),
  disabled: new Counter({
    name: 'webhook_subscriptions_disabled_total',
    help: 'Subscriptions disabled by the service, by reason.',
    labelNames: ['reason'],
  }),
};
