import * as creatorApi from '@fulfilment/client/creator';
import { publicId } from '@fulfilment/contracts';
import { certificatesIn } from '@fulfilment/testing/certificates';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCreator } from '../demo/api.ts';
import { seed } from '../demo/seed.ts';
import { buildAll } from '../dev/build.ts';
import { createDatabases } from '../dev/databases.ts';
import { endSuite } from '../dev/end-suite.ts';
import { Failure } from '../dev/failure.ts';
import { bareStack, operatorSite } from '../dev/operator-site.ts';
import { serviceNames } from '../dev/ports.ts';
import { Progress } from '../dev/progress.ts';
import { findProgram, mustRun } from '../dev/run-program.ts';
import { serviceEnvironment } from '../dev/services.ts';
import { root, type Settings } from '../dev/settings.ts';
import type { Stack } from '../dev/stack-file.ts';
import { wipeState } from '../dev/wipe-state.ts';
import { openReceiver } from '../listen/receiver.ts';
import { cause, type Targets } from './faults.ts';
import { initialStock, loadLimitedEdition } from './limited-edition.ts';
import { Parts } from './parts.ts';
import { PostgresPair } from './postgres-pair.ts';
import { startRabbitmqCluster } from './rabbitmq-cluster.ts';
import { type Comparison, compareWithAccepted, type ReceivedDelivery } from './read-sets.ts';
import { RedisWithSentinels } from './redis-with-sentinels.ts';
import { Replicas } from './replicas.ts';
import { effectOf, formatEffects, type StepTimes } from './recovery.rules.ts';
import { formatSets, isSame } from './sets.rules.ts';
import { type ChaosSite, chaosSite, replicaNumbers } from './site.ts';
import { Shopper, shopOwner, signIn } from './shopper.ts';
import { describeStep, type Step } from './timeline.rules.ts';

const webhookSecret = 'chaos-webhook-secret';
const convergenceTimeoutMs = 120_000;
const pollIntervalMs = 1_000;
const rollsOfEach = 3;
/** Consumers of messages before their publishers (docs/deploying.md). */
const rollOutOrder = ['webhook-worker', 'creator-api', 'store-api', 'auth-server'] as const;
/** Time for requests after the last fault. */
const afterwardsMs = 5_000;
const say = (line: string): void => console.log(line);

export interface ChaosOptions {
  readonly orders: number;
  readonly perSecond: number;
  readonly steps: readonly Step[];
  readonly isRolling: boolean;
  readonly isSynchronous: boolean;
  /** Called when the state directory is empty. */
  readonly remember: () => void;
}

/** Returns the exit status. */
export async function runChaos(given: Settings, options: ChaosOptions): Promise<number> {
  const unlimited = '100000000/1';
  const settings: Settings = {
    ...given,
    externalUrls: {},
    environment: {
      ...given.environment,
      RATE_LIMIT_DEFAULT: unlimited,
      RATE_LIMIT_ORDERS_CREATE: unlimited,
    },
  };
  await endSuite(settings.stateDir); // left by an interrupted run
  await wipeState(settings);
  mkdirSync(settings.stateDir, { recursive: true });
  options.remember();
  const parts = new Parts(settings.stateDir, say);
  const endings: (() => Promise<void>)[] = [() => parts.stop()];
  const end = async (): Promise<void> => {
    for (const ending of endings.splice(0).toReversed()) await ending();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void end().finally(() => process.exit(130)));
  try {
    const suite = await start(settings, options, parts, endings);
    return await examine(suite, options, endings);
  } finally {
    await end();
  }
}

interface RunningSuite {
  readonly site: ChaosSite;
  readonly stack: Stack;
  readonly targets: Targets;
  readonly limitedId: string;
}

async function start(
  settings: Settings,
  { isSynchronous }: ChaosOptions,
  parts: Parts,
  endings: (() => Promise<void>)[],
): Promise<RunningSuite> {
  const progress = new Progress(say);
  await progress.step('Build', buildAll);
  const certificates = await certificatesIn(settings.stateDir, process.env.NODE_EXTRA_CA_CERTS, (args) =>
    mustRun(findProgram('openssl') ?? 'openssl', args),
  );
  const site = chaosSite(settings, certificates.trustFile);
  const [postgres, redis, brokers] = await progress.step(
    'Stores: PostgreSQL 2, Redis 2 + 3, RabbitMQ 3',
    () =>
      Promise.all([
        PostgresPair.start(site, parts, isSynchronous),
        RedisWithSentinels.start(site, parts),
        startRabbitmqCluster(site, parts),
      ]),
  );
  endings.unshift(() => postgres.stop());
  await progress.step('Databases and migrations', async () => {
    await createDatabases(site.dependencyUrls.postgres, settings, site.secrets);
    await Promise.all(
      serviceNames.map((name) =>
        mustRun(process.execPath, [join(root, 'apps', name, 'dist', 'migrate.js')], {
          cwd: root,
          env: serviceEnvironment(name, site),
        }),
      ),
    );
  });
  const replicas = new Replicas(site, parts);
  const bare = bareStack(site, certificates.caFile);
  await progress.step('Two replicas of each service, and the gateway', async () => {
    // The services fetch the signing keys through the gateway.
    await Promise.all([replicas.startServices(), replicas.startGateway(certificates)]);
  });
  const operator = operatorSite(site);
  const seeded = await progress.step('Demo data', () => seed(bare, operator));
  const limitedId = await loadLimitedEdition(operator);
  return {
    site,
    stack: { ...bare, ...seeded },
    targets: { replicas, brokers, redis, postgres },
    limitedId,
  };
}

async function examine(
  { site, stack, targets, limitedId }: RunningSuite,
  options: ChaosOptions,
  endings: (() => Promise<void>)[],
): Promise<number> {
  const received: ReceivedDelivery[] = [];
  const invalid: string[] = [];
  const receiver = await openReceiver({
    secret: webhookSecret,
    port: 0,
    respond: ({ headers, verdict }) => {
      if ('error' in verdict) {
        invalid.push(verdict.error);
        return { status: 400, delayMs: 0 };
      }
      const { event, data } = verdict.event;
      const deliveryId = String(headers['x-service-delivery']);
      received.push({ deliveryId, event, orderId: String(data['order_id']) });
      return { status: 204, delayMs: 0 };
    },
  });
  endings.push(() => receiver.stop());
  const shopper = await Shopper.open(stack, {
    limitedSku: publicId('prod', limitedId),
    receiver: receiver.url,
    secret: webhookSecret,
  });
  endings.push(() => shopper.close());
  const ended = new AbortController();
  say(`\n${options.orders} orders or more, ${options.perSecond.toFixed(0)} a second.\n`);
  const startedAtMs = performance.now();
  const placing = shopper.placeOrders(options.orders, options.perSecond, ended.signal);
  const inject = async (): ReturnType<typeof followTimeline> => {
    try {
      return await (options.isRolling
        ? rollAll(targets)
        : followTimeline(options.steps, targets, startedAtMs));
    } finally {
      await sleep(afterwardsMs);
      ended.abort();
    }
  };
  const [times] = await Promise.all([inject(), placing]);
  const placedAtMs = performance.now();

  for (const line of formatEffects(
    times.map((step, index) => effectOf(step, times[index + 1]?.fromMs ?? Infinity, shopper)),
  ))
    say(line);
  say(`\n${shopper.accepted.length} orders in ${((placedAtMs - startedAtMs) / 1_000).toFixed(0)} s.`);
  const comparison = await converge(async () =>
    compareWithAccepted(shopper.accepted, {
      postgres: site.dependencyUrls.postgres,
      received,
      limited: { productId: limitedId, initialStock },
      soldUnits: await readSoldUnits(stack),
    }),
  );
  say(`Compared ${((performance.now() - placedAtMs) / 1_000).toFixed(0)} s after the last order.\n`);
  for (const line of formatSets(comparison.sets, comparison.sums)) say(line);
  const repeated = received.length - new Set(received.map(({ deliveryId }) => deliveryId)).size;
  say(`\nDeliveries that were sent again with the same id, which is allowed: ${repeated}`);
  return verdict(comparison, shopper, { ...options, invalid });
}

function verdict(
  comparison: Comparison,
  { failedTries, rejected }: Shopper,
  { isRolling, invalid }: Pick<ChaosOptions, 'isRolling'> & { readonly invalid: readonly string[] },
): number {
  // A reload of nginx before 1.27.4 closes idle connections at once, even if a request is on its way.
  const failed = failedTries.filter(({ reason }) => reason !== 'UND_ERR_SOCKET');
  const counts = new Map<string, number>();
  for (const { reason } of failedTries) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  say(
    `Tries that failed and were repeated: ${[...counts].map(([reason, count]) => `${count} × ${reason}`).join(', ') || 'none'}`,
  );
  const problems = [
    ...comparison.sets
      .filter((set) => !isSame(set))
      .map(({ name, missing, unexpected, doubled }) => {
        const examples = [...missing, ...unexpected, ...doubled].slice(0, 3);
        return `${name}: ${examples.join(', ')}`;
      }),
    ...comparison.sums.filter(({ expected, found }) => expected !== found).map(({ name }) => name),
    ...rejected.slice(0, 5).map((reason) => `an order was rejected: ${reason}`),
    ...invalid.slice(0, 5).map((error) => `a delivery was not genuine: ${error}`),
    ...(isRolling && failed.length > 0 ? [`${failed.length} requests failed during roll-outs`] : []),
  ];
  say(
    problems.length === 0 ? '\nNothing was lost or doubled.' : `\nDifferences:\n  ${problems.join('\n  ')}`,
  );
  return problems.length === 0 ? 0 : 1;
}

async function followTimeline(
  steps: readonly Step[],
  targets: Targets,
  startedAtMs: number,
): Promise<StepTimes[]> {
  const times: StepTimes[] = [];
  for (const step of steps) {
    await sleep(Math.max(0, startedAtMs + step.atMs - performance.now()));
    const fromMs = performance.now();
    const name = describeStep(step);
    say(`  ${((fromMs - startedAtMs) / 1_000).toFixed(1).padStart(6)} s  ${name}`);
    const seen = { availableAtMs: Infinity };
    await cause(step, targets, () => (seen.availableAtMs = performance.now()));
    times.push({ name, fromMs, restoredAtMs: Math.min(seen.availableAtMs, performance.now()) });
  }
  return times;
}

/** Rolls each replica three times, one after another. */
async function rollAll({ replicas }: Targets): Promise<StepTimes[]> {
  const times: StepTimes[] = [];
  for (let round = 1; round <= rollsOfEach; round += 1)
    for (const service of rollOutOrder)
      for (const replica of replicaNumbers) {
        const fromMs = performance.now();
        await replicas.roll(service, replica);
        times.push({
          name: `roll ${round}: ${service}, replica ${replica}`,
          fromMs,
          restoredAtMs: performance.now(),
        });
      }
  return times;
}

/** Repeats the comparison until there is no difference, or it is too late. */
async function converge(compare: () => Promise<Comparison>): Promise<Comparison> {
  const endsAtMs = performance.now() + convergenceTimeoutMs;
  for (;;) {
    const comparison = await compare();
    const isEqual =
      comparison.sets.every(isSame) && comparison.sums.every(({ expected, found }) => expected === found);
    if (isEqual || performance.now() > endsAtMs) return comparison;
    await sleep(pollIntervalMs);
  }
}

async function readSoldUnits(stack: Stack): Promise<number> {
  const uuid = stack.users.find(({ email }) => email === shopOwner)?.creators[0]?.uuid;
  if (uuid === undefined) throw new Failure('The demo account has no creator.');
  const client = openCreator(stack, await signIn(stack));
  const period = new Date().toISOString().slice(0, 7);
  const { data } = await creatorApi.readSalesStatistics({ client, path: { uuid }, query: { period } });
  return data.totals.units;
}
