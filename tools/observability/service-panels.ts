import type { ServiceName } from '@fulfilment/contracts/permissions';
import type { Panel } from './grafana.ts';
import { ownPanels } from './own-panels.ts';
import { age, deadLetters, messagesHandled, perSecond, queueBacklog, withAlert } from './panel-shapes.ts';

/** Panels of the requests, errors, duration and saturation of a service, and of its own metrics. */
export function serviceRows(service: ServiceName): Readonly<Record<string, readonly Panel[]>> {
  return {
    'Requests, errors, duration': requests(service),
    'Saturation: event loop, connection pools, queues': saturation(service),
    'Replicas and their dependencies': replicas(service),
    [`Only ${service}`]: ownPanels[service],
  };
}

function requests(service: ServiceName): readonly Panel[] {
  const matchers = `job="${service}"`;
  const count = (selected: string): string =>
    `rate(http_request_duration_seconds_count{${selected}}[$__rate_interval])`;
  const bucket = `rate(http_request_duration_seconds_bucket{${matchers}}[$__rate_interval])`;
  const failed = `${matchers},status=~"5.."`;
  return [
    {
      title: 'Requests',
      unit: 'reqps',
      queries: { '{{method}} {{route}}': `sum by (method, route) (${count(matchers)})` },
    },
    {
      title: 'Responses',
      unit: 'reqps',
      queries: { '{{status}}': `sum by (status) (${count(matchers)})` },
    },
    withAlert(
      {
        title: 'Share of 5xx responses',
        unit: 'percentunit',
        queries: { '5xx': `(sum(${count(failed)}) or vector(0)) / sum(${count(matchers)})` },
      },
      'ServerErrors',
    ),
    {
      title: '5xx responses',
      unit: 'reqps',
      queries: { '{{status}} {{method}} {{route}}': `sum by (status, method, route) (${count(failed)})` },
      alerts: ['ServerErrors'],
    },
    {
      title: 'Duration',
      unit: 's',
      queries: Object.fromEntries(
        [0.5, 0.95, 0.99].map((share) => [
          `p${share * 100}`,
          `histogram_quantile(${share}, sum by (le) (${bucket}))`,
        ]),
      ),
      exemplars: true,
    },
    {
      title: 'Duration by route (p99)',
      unit: 's',
      queries: { '{{route}}': `histogram_quantile(0.99, sum by (route, le) (${bucket}))` },
      alerts: ['SlowAnswers'],
      threshold: 'SlowAnswers',
      exemplars: true,
    },
  ];
}

function saturation(service: ServiceName): readonly Panel[] {
  const matchers = `{job="${service}"}`;
  return [
    {
      title: 'Delay of the event loop (p99)',
      description: 'Above 0.1 s, add replicas.',
      unit: 's',
      queries: { '{{instance}}': `max by (instance) (nodejs_eventloop_lag_p99_seconds${matchers})` },
      threshold: 0.1,
    },
    {
      title: 'Processor time',
      description: 'A service runs JavaScript on one core.',
      unit: 'percentunit',
      queries: {
        '{{instance}}': perSecond(`process_cpu_seconds_total${matchers}`, 'instance'),
      },
      threshold: 1,
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: { '{{instance}}': `max by (instance) (process_resident_memory_bytes${matchers})` },
    },
    {
      title: 'Used share of each connection pool',
      unit: 'percentunit',
      queries: {
        '{{pool}}': `sum by (pool) (database_pool_connections_used${matchers}) / sum by (pool) (database_pool_connections_max${matchers})`,
      },
      threshold: 1,
    },
    {
      title: 'Requests that wait for a connection',
      unit: 'short',
      queries: { '{{pool}}': `sum by (pool) (database_pool_requests_waiting${matchers})` },
    },
    queueBacklog(matchers),
    messagesHandled(matchers),
    age('Age of the oldest message in the outbox', `max(outbox_oldest_seconds${matchers})`, 'OutboxStuck'),
    deadLetters(matchers),
  ];
}

function replicas(service: ServiceName): readonly Panel[] {
  const matchers = `{job="${service}"}`;
  return [
    {
      title: 'Replicas that respond',
      unit: 'short',
      queries: { '{{instance}}': `up${matchers}` },
      alerts: ['ServiceDown'],
    },
    {
      title: 'Commands that Redis did not execute in time',
      unit: 'ops',
      queries: { '{{use}}': perSecond(`redis_fail_open_total${matchers}`, 'use') },
      alerts: ['RedisFailsOpen'],
    },
    ...(service === 'auth-server' ? [] : keyAndReadReplicaPanels(matchers)),
    {
      title: 'Settings that are not meant for production',
      unit: 'short',
      queries: { '{{setting}}': `max by (setting) (relaxed_settings${matchers})` },
      alerts: ['RelaxedSettings'],
    },
    {
      title: 'Dropped spans',
      unit: 'ops',
      queries: { '{{reason}}': perSecond(`trace_spans_dropped_total${matchers}`, 'reason') },
      alerts: ['SpansDropped'],
    },
  ];
}

/** Not for auth-server, which has no read replica and reads its own keys. */
function keyAndReadReplicaPanels(matchers: string): readonly Panel[] {
  return [
    {
      title: 'Failed reads of the public signing keys',
      unit: 'ops',
      queries: { failures: perSecond(`jwks_read_failures_total${matchers}`) },
      alerts: ['SigningKeysUnreadable'],
    },
    {
      title: 'Reads that a read replica could run',
      unit: 'ops',
      queries: { '{{outcome}}': perSecond(`read_replica_reads_total${matchers}`, 'outcome') },
      alerts: ['ReadReplicaUnused'],
    },
  ];
}
