import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { Progress } from '../dev/output/progress.ts';
import { inSeparateSuite } from '../dev/separate-suite.ts';
import { readSeparateSettings } from '../dev/settings.ts';
import type { Suite } from '../dev/suite.ts';
import { type Bench, type BenchContext, unlimited } from './bench-context.ts';
import { type Figure, isMet, formatTable } from './figures.ts';
import { describeConditions, writeReport } from './report.ts';

const help = `npm run bench -- NAME: compares a service, compiled for production, with a baseline in one run.

  npm run bench -- auth       the authorization server against a bare oidc-provider with in-memory storage
  npm run bench -- store      the Store API against a bare node:http and pg server with the same SQL
  npm run bench -- reports    the fulfilment events of a warehouse that the Store API applies per second
  npm run bench -- creator    the Creator API against a bare consumer that writes the same rows
  npm run bench -- webhooks   webhook deliveries against bare undici, the outbox relay against bare publisher confirms
  npm run bench -- traces     placing orders with spans for an OpenTelemetry collector against placing them without
  npm run bench -- replicas   one replica of each service against four on the same machine
  npm run bench -- growth     the hot paths with 10 million orders, past deliveries and postings against 100000
  npm run bench -- snapshots  the outbox relay and deliveries during a long snapshot, such as that of pg_dump
  npm run bench -- suite      orders through TLS, gateway and all services; each is delivered as a webhook and projected

  --rounds N    number of counted rounds (default: 5); the variants alternate within a round, and ratios are per round
  --each MS     duration of one variant in a round (default: 1000)
  --rows N      number of existing rows for the measurements with much data: expired tokens of auth (default: 5000000),
                orders of creator (default: 1000000); 0 skips these measurements;
                for reports, the fulfilment events in a full queue (default: 20000);
                for growth, orders, past deliveries and postings (default: 10000000);
                for snapshots, the messages and deliveries during the snapshot (default: 100000)
  --service S   for replicas and growth: only this service
  --write       write the figures to docs/reference/benchmarks.md and benchmarks.json
  --json        print the figures as JSON to standard output, everything else to standard error
  --no-gate     exit with status 0 even if a target is missed

Compare only ratios: absolute figures vary by a factor of two with the load of the machine.

Settings (environment):
  SUITE_BENCH_BASE_PORT   base port; the ports of the private stores follow it (default: 28443)
  SUITE_DEV_DIR           directory for state; the bench uses its subdirectory "bench" (default: .dev)`;

interface BenchEntry {
  readonly load: () => Promise<Bench>;
  /** Default of `--rows`. */
  readonly rows: number;
  /** Settings of the services, if the benchmark starts the complete suite. */
  readonly suiteEnvironment?: Readonly<Record<string, string>>;
}

/** The benchmarks by name, each imported only after the build, since it imports the compiled code. */
const benches: Readonly<Record<string, BenchEntry>> = {
  auth: { load: async () => (await import('./auth/auth-bench.ts')).benchAuth, rows: 5_000_000 },
  store: { load: async () => (await import('./store/store-bench.ts')).benchStore, rows: 0 },
  reports: { load: async () => (await import('./reports/reports-bench.ts')).benchReports, rows: 20_000 },
  creator: { load: async () => (await import('./creator/creator-bench.ts')).benchCreator, rows: 1_000_000 },
  webhooks: { load: async () => (await import('./webhooks/webhooks-bench.ts')).benchWebhooks, rows: 0 },
  traces: { load: async () => (await import('./traces/traces-bench.ts')).benchTraces, rows: 0 },
  replicas: { load: async () => (await import('./replicas/replicas-bench.ts')).benchReplicas, rows: 0 },
  growth: {
    load: async () => (await import('./growth/growth-bench.ts')).benchGrowth,
    rows: 10_000_000,
  },
  snapshots: {
    load: async () => (await import('./snapshots/snapshots-bench.ts')).benchSnapshots,
    rows: 100_000,
  },
  suite: {
    load: async () => (await import('./suite/suite-bench.ts')).benchSuite,
    rows: 0,
    suiteEnvironment: { RATE_LIMIT_DEFAULT: unlimited, RATE_LIMIT_ORDERS_CREATE: unlimited },
  },
};

interface Options {
  readonly name: string;
  readonly json: boolean;
  /** Whether a missed target is a failure. */
  readonly gate: boolean;
  readonly write: boolean;
  readonly sizes: Pick<BenchContext, 'rounds' | 'eachMs' | 'service'> &
    Partial<Pick<BenchContext, 'rowCount'>>;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) {
    console.log(help);
    return 0;
  }
  const entry = benches[options.name];
  if (entry === undefined) throw new Failure(help);
  const say = (line: string): void => (options.json ? console.error(line) : console.log(line));
  const { where, figures } = await withStores(say, entry.suiteEnvironment, async (suite, progress) => {
    await progress.step('Build', buildAll);
    const bench = await entry.load();
    const { rowCount = entry.rows, ...sizes } = options.sizes;
    const context = { stores: suite.dependencyUrls(), suite, ...sizes, rowCount };
    const where = await describeConditions(context);
    return { where, figures: await bench({ ...context, step: (title, work) => progress.step(title, work) }) };
  });
  if (options.json)
    console.log(JSON.stringify({ bench: options.name, where, figures: figures.map(withOutcome) }));
  else for (const line of ['', ...where, '', ...formatTable(figures)]) say(line);
  if (options.write) await writeReport(options.name, { command: commandLine(), where, figures });
  const missed = figures.filter((measured) => !isMet(measured));
  if (missed.length > 0) say(`\nMissed: ${missed.map(({ name }) => name).join(', ')}`);
  return missed.length > 0 && options.gate ? 1 : 0;
}

function commandLine(): string {
  return ['npm run bench --', ...process.argv.slice(2).filter((argument) => argument !== '--write')].join(
    ' ',
  );
}

function readOptions(): Options | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      each: { type: 'string', default: '1000' },
      rows: { type: 'string' },
      service: { type: 'string' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      'no-gate': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false, short: 'h' },
    },
  });
  const [name] = positionals;
  if (values.help || name === undefined) return undefined;
  const sizes = {
    rounds: parseCount('--rounds', values.rounds, 1),
    eachMs: parseCount('--each', values.each, 100),
    service: values.service,
    ...(values.rows === undefined ? {} : { rowCount: parseCount('--rows', values.rows, 0) }),
  };
  return { name, json: values.json, gate: !values['no-gate'], write: values.write, sizes };
}

function parseCount(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min) throw new Failure(`${option} must be a whole number from ${min}.`);
  return value;
}

/** Runs the work with private, empty PostgreSQL, Redis and RabbitMQ, and stops them afterwards. */
function withStores<T>(
  say: (line: string) => void,
  suiteEnvironment: BenchEntry['suiteEnvironment'],
  work: (suite: Suite, progress: Progress) => Promise<T>,
): Promise<T> {
  const settings = readSeparateSettings('bench', { ...process.env, ...suiteEnvironment });
  const required = { gateway: suiteEnvironment !== undefined };
  return inSeparateSuite(settings, required, say, (suite) => work(suite, new Progress(say)));
}

function withOutcome(measured: Figure): Figure & { met: boolean } {
  return { ...measured, met: isMet(measured) };
}

runMain(main, help);
