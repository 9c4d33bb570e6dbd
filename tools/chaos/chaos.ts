import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { isTaken } from '../dev/ports.ts';
import { Progress } from '../dev/output/progress.ts';
import { readSeparateSettings, type Settings } from '../dev/settings.ts';
import { wholeNumber } from '../dev/whole-number.ts';
import { chaosPorts } from './suite/context.ts';
import { seededTimeline, shortPace, type Step, timeline, usualPace } from './timeline.rules.ts';

const help = `npm run chaos: checks that no order is lost or doubled while parts of the suite fail.

It starts, on loopback addresses and from Debian's packages: three RabbitMQ nodes as one cluster, Redis with a
replica and three Sentinels, PostgreSQL with a synchronous standby, and two replicas of each service behind the
gateway. It places orders through the gateway while replicas are killed, frozen and rolled, a RabbitMQ node is
killed, Redis fails over, PostgreSQL is promoted and links are cut. Then it compares what was accepted with what
each part has, and prints both. The exit status is 1 at any difference.

  --orders N        minimum number of orders (default: 20 a second, or 10 with --short or --rolling)
  --seconds N       duration in which faults begin (default: 180, with --short 20, with --rolling 120)
  --short           each kind of fault once, 10 orders a second; faults of different parts overlap (npm test)
  --built           do not build the code first
  --seed N          seed of the faults (default: random; it is printed)
  --timeline FILE   faults from a file, such as timeline.json of an earlier run
  --rolling         no faults: every replica is rolled three times, and only closed connections may fail
  --asynchronous    PostgreSQL does not wait for its standby, which lags by a second when it is promoted: reports
                    what is lost, and whether the services agree about the rest after ops creator rebuild

Settings (environment):
  SUITE_CHAOS_BASE_PORT   base port (default: 26443)
  SUITE_DEV_DIR           directory for state; it uses the subdirectory "chaos" (default: .dev)`;

/** The largest value of a numeric option, and the largest random seed. */
const maxNumber = 9_999_999;
// Each load has the duration in which faults begin, and the orders a second.
const defaultLoad = { seconds: 180, perSecond: 20 };
const shortLoad = { seconds: 20, perSecond: 10 }; // other tests run concurrently
const rollingLoad = { seconds: 120, perSecond: 10 }; // starting processes use most of the processor time

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      orders: { type: 'string' },
      seconds: { type: 'string' },
      short: flag,
      built: flag,
      seed: { type: 'string' },
      timeline: { type: 'string' },
      rolling: flag,
      asynchronous: flag,
    },
  });
  const settings = await withFreePorts(readSeparateSettings('chaos'));
  const faultLoad = values.short ? shortLoad : defaultLoad;
  const load = values.rolling ? rollingLoad : faultLoad;
  const numberOption = (name: 'seconds' | 'seed' | 'orders', byDefault: number): number =>
    wholeNumber(name, values[name] ?? String(byDefault), 1, maxNumber);
  const seconds = numberOption('seconds', load.seconds);
  const seed = numberOption('seed', 1 + Math.floor(Math.random() * maxNumber));
  const orders = numberOption('orders', seconds * load.perSecond);
  const steps =
    values.timeline === undefined
      ? seededTimeline(seed, {
          minLengthMs: values.short ? 0 : seconds * 1_000,
          pace: values.short ? shortPace : usualPace,
        })
      : readTimeline(values.timeline);
  // `--built` is for a run next to another suite, which may be loading the compiled files.
  if (!values.built) await new Progress().step('Build', buildAll);
  const { runChaos } = await import('./run-chaos.ts'); // imported late, since it needs the compiled code
  console.log(
    values.rolling
      ? 'Rolling updates.'
      : `Seed ${seed}. To repeat: npm run chaos -- ${values.short ? '--short ' : ''}--seed ${seed}`,
  );
  return runChaos(settings, {
    orders,
    perSecond: orders / seconds,
    steps: values.rolling ? [] : steps,
    isConcurrent: values.short,
    isRolling: values.rolling,
    isSynchronous: !values.asynchronous,
  });
}

const basePortStep = 100;
const endOfBasePorts = 65_000;

/** Raises the base port until no other program uses one of its ports. */
async function withFreePorts(settings: Settings): Promise<Settings> {
  for (let { basePort } = settings; basePort < endOfBasePorts; basePort += basePortStep) {
    const ports = Object.values(chaosPorts(basePort)).flatMap((assigned) =>
      typeof assigned === 'number' ? [assigned] : Object.values(assigned),
    );
    const taken = await Promise.all(ports.map((port) => isTaken(port)));
    if (!taken.includes(true)) return { ...settings, basePort };
  }
  throw new Failure(`No free ports found from ${settings.basePort} upwards.`);
}

function readTimeline(file: string): Step[] {
  const parsed = timeline.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Failure(`${file} is not a timeline: ${parsed.error.message}`);
  return parsed.data;
}

runMain(main, help);
