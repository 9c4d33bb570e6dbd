import { Counter, Gauge } from '@fulfilment/runtime';

/** Prometheus metrics of track uploads; docs/runbook.md says which of them to watch. */
export const uploadMetrics = {
  runs: new Counter({
    name: 'track_upload_runs_total',
    help: 'Processing runs of track uploads, by outcome: completed, or the code of the failure.',
    labelNames: ['outcome'],
  }),
  open: new Gauge({
    name: 'track_uploads_open',
    help: 'Track uploads that are pending or processing.',
  }),
  oldestDue: new Gauge({
    name: 'track_uploads_oldest_due_seconds',
    help: 'Time since the oldest unprocessed track upload became due. Above a few minutes, add replicas or raise TRACK_UPLOAD_CONCURRENCY.',
  }),
  leasesLost: new Counter({
    name: 'track_upload_leases_lost_total',
    help: 'Runs that lost their lease because the process or PostgreSQL stalled.',
  }),
};
