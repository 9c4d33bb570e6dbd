import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { Progress, type PrintLine } from '../dev/output/progress.ts';
import { inSeparateSuite } from '../dev/separate-suite.ts';
import { readSeparateSettings } from '../dev/settings.ts';
import { wholeNumber } from '../dev/whole-number.ts';
import { type Bench, type BenchContext, unlimited } from './bench-context.ts';
import { isMet, formatTable } from './figures.ts';
import { describeConditions, type Report, writeReport } from './report.ts';

const help = `npm run bench -- NAME: measures compiled services. Most benchmarks compare two variants in one run.

  npm run bench -- auth       the authorization server against a bare oidc-provider with in-memory storage
  npm run bench -- store      the Store API against a bare node:http and pg server that writes the same rows
  npm run bench -- reports    the fulfilment events of a warehouse that the Store API applies per second
  npm run bench -- creator    the Creator API against a bare consumer that writes the same rows
  npm run bench -- webhooks   webhook deliveries against bare undici, the outbox relay against bare publisher confirms
  npm run bench -- traces     placing orders with spans for an OpenTelemetry collector against placing them without
  npm run bench -- replicas   one replica of each service against four on the same machine
  npm run bench -- growth     the hot paths with 10 million orders, past deliveries and postings against 100000
  npm run bench -- snapshots  the outbox relay and deliveries during a long snapshot, such as that of pg_dump
  npm run bench -- suite      orders through TLS, gateway and all services; each is delivered as a webhook and projected

  --rounds N    number of counted rounds (default: 5); the variants alternate within a round, and ratios are per round
  --each MS     duration of one variant in a round, in milliseconds (default: 1000)
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
  /** Default of `--rows`; undefined if the benchmark has no such option. */
  readonly rows?: number;
  /** Whether it measures several services, of which `--service` selects one. */
  readonly isPerService?: boolean;
  /** Settings of the services, if the benchmark starts the complete suite. */
  readonly suiteEnvironment?: Readonly<Record<string, string>>;
}

/** The benchmarks by name. They import compiled code, so each is loaded only after the build. */
const benches: Readonly<Record<string, BenchEntry>> = {
  auth: { load: async () => (await import('./auth/auth-bench.ts')).benchAuth, rows: 5_000_000 },
  store: { load: async () => (await import('./store/store-bench.ts')).benchStore },
  reports: { load: async () => (await import('./store/reports-bench.ts')).benchReports, rows: 20_000 },
  creator: { load: async () => (await import('./creator/creator-bench.ts')).benchCreator, rows: 1_000_000 },
  webhooks: { load: async () => (await import('./webhooks/webhooks-bench.ts')).benchWebhooks },
  traces: { load: async () => (await import('./traces-bench.ts')).benchTraces },
  replicas: {
    load: async () => (await import('./replicas/replicas-bench.ts')).benchReplicas,
    isPerService: true,
  },
  growth: {
    load: async () => (await import('./growth-bench.ts')).benchGrowth,
    rows: 10_000_000,
    isPerService: true,
  },
  snapshots: { load: async () => (await import('./snapshots-bench.ts')).benchSnapshots, rows: 100_000 },
  suite: {
    load: async () => (await import('./suite/suite-bench.ts')).benchSuite,
    suiteEnvironment: { RATE_LIMIT_DEFAULT: unlimited, RATE_LIMIT_ORDERS_CREATE: unlimited },
  },
};

type Measured = Omit<Report, 'command'>;

async function main(): Promise<number | void> {
  const { values, positionals } = parseOptions();
  const [name] = positionals;
  if (name === undefined) return console.log(help);
  const entry = benches[name];
  if (entry === undefined) throw new Failure(help);
  if (values.rows !== undefined && entry.rows === undefined)
    throw new Failure(`The benchmark ${name} has no --rows.`);
  if (values.service !== undefined && entry.isPerService !== true)
    throw new Failure(`The benchmark ${name} has no --service.`);
  const sizes = {
    rounds: wholeNumber('rounds', values.rounds, 1),
    eachMs: wholeNumber('each', values.each, 100),
    rowCount: wholeNumber('rows', values.rows ?? String(entry.rows ?? 0), 0),
    service: values.service,
  };
  const say = (line: string): void => (values.json ? console.error(line) : console.log(line));
  const measured = await measure(entry, sizes, say);
  printResult(name, measured, values.json);
  if (values.write) {
    const args = process.argv.slice(2).filter((argument) => argument !== '--write');
    await writeReport(name, { command: ['npm run bench --', ...args].join(' '), ...measured });
  }
  const missed = measured.figures.filter((candidate) => !isMet(candidate));
  if (missed.length > 0) say(`\nMissed: ${missed.map(({ name: figureName }) => figureName).join(', ')}`);
  return missed.length > 0 && !values['no-gate'] ? 1 : 0;
}

function parseOptions() {
  const flag = { type: 'boolean', default: false } as const;
  return parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      each: { type: 'string', default: '1000' },
      rows: { type: 'string' },
      service: { type: 'string' },
      json: flag,
      write: flag,
      'no-gate': flag,
    },
  });
}

/** Starts private stores, builds the code, and runs the benchmark. */
function measure(
  entry: BenchEntry,
  sizes: Pick<BenchContext, 'rounds' | 'eachMs' | 'rowCount' | 'service'>,
  say: PrintLine,
): Promise<Measured> {
  const settings = readSeparateSettings('bench', { ...process.env, ...entry.suiteEnvironment });
  const required = { gateway: entry.suiteEnvironment !== undefined };
  return inSeparateSuite(settings, required, say, async (suite) => {
    const progress = new Progress(say);
    await progress.step('Build', buildAll);
    const bench = await entry.load();
    const context = { stores: suite.dependencyUrls(), suite, ...sizes };
    return {
      conditions: await describeConditions(context),
      figures: await bench({ ...context, step: (title, work) => progress.step(title, work) }),
    };
  });
}

function printResult(name: string, { conditions, figures }: Measured, asJson: boolean): void {
  if (asJson) {
    const rows = figures.map((row) => ({ ...row, met: isMet(row) }));
    console.log(JSON.stringify({ bench: name, conditions, figures: rows }));
    return;
  }
  for (const line of ['', ...conditions, '', ...formatTable(figures)]) console.log(line);
}

runMain(main, help);
