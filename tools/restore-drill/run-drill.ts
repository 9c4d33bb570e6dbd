import type { ServiceName } from '@fulfilment/contracts/permissions';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChaosSuite, inChaosSuite } from '../chaos/suite/chaos-suite.ts';
import { eventually } from '../dev/eventually.ts';
import { say, secondsSince } from '../dev/output/progress.ts';
import type { LostByRestore } from '../chaos/comparison/compare-with-accepted.ts';
import { formatComparison } from '../chaos/comparison/id-comparison.rules.ts';
import { adminUrlOf } from '../chaos/suite/context.ts';
import { runSql } from '../dev/run-sql.ts';
import { compareUntilEqual, openTraffic, reportProblems, type Traffic } from '../chaos/traffic.ts';
import type { Settings } from '../dev/settings.ts';
import {
  type DatabaseUrls,
  findLost,
  printDifferingRowCounts,
  restorePaymentsAtProvider,
} from './compare-databases.ts';
import { archiveSettings, archiveTimeoutSeconds, PointInTimeBackup } from './point-in-time.ts';
import { repair } from './repairs.ts';

/** A load that two cores can carry with all processes of the suite. */
const ordersPerSecond = 5;
/** Duration of each phase: before the backup, after it (plus `secondsAgo`), and after the restore. */
const loadMs = 5_000;
const firstOrderTimeoutMs = 60_000;
/** Maximum time from the last recovered commit to the target: under this load, services commit more often. */
const maxGapSeconds = 2;

interface DrillOptions {
  readonly service: ServiceName;
  readonly secondsAgo: number;
}

/** Returns the exit status. */
export function runDrill(settings: Settings, options: DrillOptions): Promise<number> {
  return inChaosSuite(
    settings,
    { isSynchronous: true, configuration: archiveSettings },
    async (suite, cleanups) => {
      const traffic = await openTraffic(suite);
      cleanups.push(() => traffic.close());
      const ended = new AbortController();
      const placing = traffic.shopper.placeOrders({ perSecond: ordersPerSecond, ended: ended.signal });
      try {
        await sleep(loadMs);
        const backup = await PointInTimeBackup.take(suite.targets.postgres);
        say(`\nBase backup after ${traffic.shopper.accepted.length} orders.`);
        await sleep(loadMs + options.secondsAgo * 1_000);
        const restored = await restoreDatabase(options, { suite, traffic, backup });
        await sleep(loadMs);
        ended.abort();
        await placing;
        return await repairAndCompare(options.service, { suite, traffic, ...restored });
      } finally {
        ended.abort();
      }
    },
  );
}

interface Restored {
  readonly target: Date;
  readonly lost: LostByRestore;
  /** Problems of the restored server. */
  readonly problems: readonly string[];
}

/** Restores the database of one service while the others keep running. */
async function restoreDatabase(
  { service, secondsAgo }: DrillOptions,
  { suite, traffic, backup }: { suite: ChaosSuite; traffic: Traffic; backup: PointInTimeBackup },
): Promise<Restored> {
  const { postgres, replicas } = suite.targets;
  const target = new Date(Date.now() - secondsAgo * 1_000);
  const stoppingAtMs = performance.now();
  await replicas.stopService(service);
  const stopped = new URL(adminUrlOf(service, suite.context));
  stopped.port = new URL(postgres.primaryUrl).port;
  // Prevents new connections to the old database; those of the service have ended with its processes. The
  // role has the name of the database.
  await runSql(postgres.primaryUrl, `ALTER ROLE ${stopped.pathname.slice(1)} NOLOGIN`);
  say(
    `\n${service} is stopped (${secondsSince(stoppingAtMs)}). Restoring its database to ${target.toISOString()} …`,
  );
  const { server, lost } = await recoverAndCompare(service, stopped, target, backup);
  const startingAtMs = performance.now();
  postgres.addressOf(service).redirectTo(Number(new URL(server.url).port));
  await replicas.startService(service);
  const startDuration = secondsSince(startingAtMs);
  const { accepted } = traffic.shopper;
  const acceptedBefore = accepted.length;
  const hasAccepted = (): boolean => accepted.length > acceptedBefore;
  await eventually(hasAccepted, firstOrderTimeoutMs, 'an order is accepted after the restore');

  const gapSeconds = (target.getTime() - server.lastCommitAt.getTime()) / 1_000;
  say(`
RTO: ${secondsSince(stoppingAtMs)} from the stop of ${service} until it serves and an order is accepted, including
  copy of the base backup ${server.copySeconds.toFixed(1)} s, recovery ${server.recoverySeconds.toFixed(1)} s, start of the service ${startDuration}
RPO of the restore: everything after ${target.toISOString()}, ${secondsAgo} s before the stop, as requested;
  the last recovered commit is ${gapSeconds.toFixed(3)} s older than this time
RPO if the server is lost: ${backup.longestUnarchivedSeconds.toFixed(1)} s, the longest time without an archived segment (archive_timeout = ${archiveTimeoutSeconds})
`);
  const isAtTarget = gapSeconds >= 0 && gapSeconds <= maxGapSeconds;
  return {
    target,
    lost,
    problems: isAtTarget ? [] : ['the database was not restored to the requested time'],
  };
}

/**
 * Recovers the database in another server. Returns the server and the data that it lacks.
 * @param stopped URL of the database whose service is stopped
 */
async function recoverAndCompare(
  service: ServiceName,
  stopped: URL,
  target: Date,
  backup: PointInTimeBackup,
) {
  await backup.archiveAll();
  const server = await backup.restore(target);
  await dropOtherDatabases(server.url, stopped.pathname.slice(1));
  const restored = new URL(stopped);
  restored.port = new URL(server.url).port;
  const urls: DatabaseUrls = { stopped: stopped.href, restored: restored.href };
  await printDifferingRowCounts(urls);
  const lost = await findLost(service, urls);
  if (service === 'store-api') await restorePaymentsAtProvider(urls);
  return { server, lost };
}

/** Drops the databases of the other services, which the backup also contains. */
async function dropOtherDatabases(url: string, kept: string): Promise<void> {
  const rows = await runSql(
    url,
    "SELECT datname AS name FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', $1)",
    [kept],
  );
  for (const { name } of rows) await runSql(url, `DROP DATABASE "${String(name)}" WITH (FORCE)`);
}

/** Runs the repairs, compares what each part has, and prints it. Returns the exit status. */
async function repairAndCompare(
  service: ServiceName,
  {
    suite,
    traffic,
    target,
    lost,
    problems: restoreProblems,
  }: { suite: ChaosSuite; traffic: Traffic } & Restored,
): Promise<number> {
  const { shopper, received } = traffic;
  const { context } = suite;
  const problems = [...restoreProblems, ...(await repair(service, { context, target, lost }))];
  const comparison = await compareUntilEqual(() => traffic.compare(lost));
  const undelivered = [...lost.events].filter(
    (event) => !received.some(({ orderId, event: name }) => `${orderId} ${name}` === event),
  );
  say(`\n${shopper.accepted.length} orders were accepted, with retries by the same key during the restore.`);
  if (service === 'store-api')
    say(`  Lost, although charged: ${lost.orders.size} orders; ${lost.unpublished.size} of their messages were not yet published
  Restored in an earlier version: ${lost.earlierOrders.size} orders`);
  if (service === 'webhook-worker')
    say(`  Lost: ${lost.events.size} events, of which ${undelivered.length} never reached the receiver`);
  say('');
  for (const line of formatComparison(comparison)) say(line);
  return reportProblems('Nothing else was lost or doubled.', [
    ...problems,
    ...traffic.problemsIn(comparison),
  ]);
}
