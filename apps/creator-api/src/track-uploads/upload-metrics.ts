import { Counter, Gauge, metrics } from '@fulfilment/runtime';

const registers = [metrics];

/** What Prometheus sees of track uploads (docs/runbook.md says what to do about each). */
export const uploadMetrics = {
  runs: new Counter({
    name: 'track_upload_runs_total',
    help: 'Runs at track uploads by how they ended: completed, or the code of what went wrong.',
    labelNames: ['outcome'],
    registers,
  }),
  open: new Gauge({
    name: 'track_uploads_open',
    help: 'Track uploads that are not over.',
    registers,
  }),
  oldestDue: new Gauge({
    name: 'track_uploads_oldest_due_seconds',
    help: 'For how long the oldest one that nobody works on has been due. Alert when it stays above a few minutes: more replicas, or more at a time.',
    registers,
  }),
  leasesLost: new Counter({
    name: 'track_upload_leases_lost_total',
    help: 'Runs that lost their lease: the process or PostgreSQL stood still.',
    registers,
  }),
  found: new Counter({
    name: 'track_uploads_found_total',
    help: 'Track uploads that were due for seconds and that Redis did not know: it has lost them, or was away when they were registered. It knows them now.',
    registers,
  }),
};
