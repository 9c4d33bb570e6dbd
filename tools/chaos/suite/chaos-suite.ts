import { serviceNames } from '@fulfilment/contracts/permissions';
import { certificatesIn } from '@fulfilment/testing/certificates';
import { mkdirSync } from 'node:fs';
import { unlimited } from '../../bench/bench-context.ts';
import { seed } from '../../demo/seed.ts';
import { createDatabases } from '../../dev/services/databases.ts';
import { resetSuite } from '../../dev/stop-suite.ts';
import { bareStack } from '../../dev/services/addresses.ts';
import { reasonOf } from '../../dev/failure.ts';
import { LogFiles } from '../../dev/output/logs.ts';
import { Progress, say } from '../../dev/output/progress.ts';
import { migrateService } from '../../dev/services/services.ts';
import type { Settings } from '../../dev/settings.ts';
import { stopOnSignal } from '../../dev/stop-on-signal.ts';
import { Supervisor } from '../../dev/supervisor/supervisor.ts';
import type { Stack } from '../../dev/state/stack-file.ts';
import type { Targets } from '../faults.ts';
import { loadLimitedEdition } from './limited-edition.ts';
import { PostgresPair, type PostgresOptions } from './postgres-pair.ts';
import { startRabbitmqCluster } from './rabbitmq-cluster.ts';
import { startRedisWithSentinels } from './redis-with-sentinels.ts';
import { Replicas } from './replicas.ts';
import { type ChaosContext, chaosContext, operatorAccessOf } from './context.ts';

/** Functions that are called in reverse order at the end. */
export type Cleanups = (() => Promise<void>)[];

export interface ChaosSuite {
  readonly context: ChaosContext;
  readonly stack: Stack;
  readonly targets: Targets;
  readonly limitedId: string;
}

/** Starts a separate suite in which each replica has its own IP address, and stops it after the work. */
export async function inChaosSuite<Result>(
  baseSettings: Settings,
  options: PostgresOptions,
  work: (suite: ChaosSuite, cleanups: Cleanups) => Promise<Result>,
): Promise<Result> {
  const settings: Settings = {
    ...baseSettings,
    externalUrls: {},
    environment: {
      ...baseSettings.environment,
      RATE_LIMIT_DEFAULT: unlimited,
      RATE_LIMIT_ORDERS_CREATE: unlimited,
    },
  };
  await resetSuite(settings);
  mkdirSync(settings.stateDir, { recursive: true });
  const logs = new LogFiles(settings.stateDir);
  const supervisor = new Supervisor(settings.stateDir, {
    line: ({ name }, line) => logs.write(name, line),
    notice: (name, text) => logs.write('chaos', `${name} ${text}`),
  });
  const cleanups: Cleanups = [
    () => logs.close(),
    () => supervisor.stopAll((name, error) => say(`${name} did not stop: ${reasonOf(error)}`)),
  ];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= runInReverse(cleanups));
  stopOnSignal(end);
  try {
    return await work(await start(settings, options, { supervisor, logs, cleanups }), cleanups);
  } finally {
    await end();
  }
}

async function runInReverse(cleanups: Cleanups): Promise<void> {
  for (let last = cleanups.pop(); last !== undefined; last = cleanups.pop()) await last();
}

async function start(
  settings: Settings,
  options: PostgresOptions,
  { supervisor, logs, cleanups }: { supervisor: Supervisor; logs: LogFiles; cleanups: Cleanups },
): Promise<ChaosSuite> {
  const progress = new Progress();
  const certificates = await certificatesIn(settings.stateDir, process.env.NODE_EXTRA_CA_CERTS);
  const context = chaosContext(settings, certificates.trustFile);
  const postgres = await PostgresPair.create(context, supervisor, options);
  cleanups.unshift(() => postgres.stop()); // runs last: it deletes the data, which the processes use
  const stores = 'PostgreSQL × 2, Redis × 2, Sentinel × 3, RabbitMQ × 3';
  const [redis, brokers] = await progress.step(stores, async () => {
    const starting = [
      startRedisWithSentinels(context, supervisor),
      startRabbitmqCluster(context, supervisor),
      postgres.start(),
    ] as const;
    await Promise.allSettled(starting); // the clean-up after a failure must not find a store that is starting
    return Promise.all(starting);
  });
  await progress.step('Databases and migrations', async () => {
    await createDatabases(context.dependencyUrls.postgres, settings, context.secrets);
    await Promise.all(serviceNames.map((name) => migrateService(name, context)));
  });
  const replicas = new Replicas(context, supervisor);
  const bare = bareStack(context, certificates.caFile);
  await progress.step('Two replicas of each service, and the gateway', async () => {
    // Concurrently, because the services fetch the signing keys through the gateway.
    await Promise.all([
      replicas.startServices(),
      replicas.startGateway(certificates, logs.file('gateway-access')),
    ]);
  });
  const operator = operatorAccessOf(context);
  const seeded = await progress.step('Demo data', () => seed(operator));
  const limitedId = await loadLimitedEdition(operator);
  return {
    context,
    stack: { ...bare, ...seeded },
    targets: { replicas, brokers, redis, postgres },
    limitedId,
  };
}
