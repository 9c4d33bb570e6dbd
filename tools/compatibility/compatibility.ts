import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { unlimited } from '../bench/bench-context.ts';
import { buildAll } from '../dev/build.ts';
import { runMain } from '../dev/failure.ts';
import { Progress, say } from '../dev/output/progress.ts';
import { inSeparateSuite } from '../dev/separate-suite.ts';
import { readSeparateSettings, root } from '../dev/settings.ts';
import { contractFindings, contractsOfCommit, currentContracts } from './documents.ts';
import { buildRelease, releasedCommit } from './release-code.ts';
import { type Finding, formatReport } from './report.ts';
import { rollOut, type RollOutOutcome } from './roll-out.ts';

const help = `npm run compatibility: can each service be deployed on its own, next to the last release of the others?

It compares the OpenAPI and AsyncAPI documents with those of the last release. Then it starts a suite of the last
release and rolls the services out under load, one after another: first the migrations, then the process. Every
order must be delivered as a webhook and reach the Creator API. It repeats this with the services in reverse order,
and prints a table. The exit status is 1 if something cannot be deployed.

  --from COMMIT   the last release (default: the newest commit of npm run release)
  --contracts     compare only the documents, without starting anything

Settings (environment):
  SUITE_COMPATIBILITY_BASE_PORT   base port of its suite (default: 27443)
  SUITE_DEV_DIR                   directory for state; it uses the subdirectory "compatibility" (default: .dev)`;

type Outcome = readonly [ServiceName, RollOutOutcome];

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      from: { type: 'string' },
      contracts: { type: 'boolean', default: false },
    },
  });
  const commit = await releasedCommit(options.from);
  say(`Compares this repository with the release ${commit.slice(0, 12)}.`);
  const contracts = contractFindings(await contractsOfCommit(commit), currentContracts());
  const outcomes = options.contracts ? [] : await rollOutInBothOrders(commit);
  const findings = [...contracts, ...outcomes.flatMap(findingsOf)];
  const rolledOut = new Set(outcomes.map(([service]) => service));
  for (const line of ['', ...formatReport(findings, rolledOut)]) say(line);
  return findings.length > 0 ? 1 : 0;
}

function findingsOf([service, { schema, mixed }]: Outcome): Finding[] {
  return [
    ...schema.map((text): Finding => ({ service, column: 'schema', text })),
    ...mixed.map((text): Finding => ({ service, column: 'mixed', text })),
  ];
}

async function rollOutInBothOrders(commit: string): Promise<Outcome[]> {
  const progress = new Progress();
  const { stateDir } = readSeparateSettings('compatibility');
  await progress.step('Build', buildAll);
  const releaseDir = await progress.step('Build of the last release', () =>
    buildRelease(commit, join(stateDir, '..', 'releases')),
  );
  const outcomes: Outcome[] = [];
  for (const services of [serviceNames, serviceNames.toReversed()]) {
    say(`\nRoll-out: ${services.join(', ')}`);
    outcomes.push(...(await rollOutInOrder(services, releaseDir)));
  }
  return outcomes;
}

function rollOutInOrder(services: readonly ServiceName[], releaseDir: string): Promise<Outcome[]> {
  const settings = readSeparateSettings('compatibility', {
    ...process.env,
    RATE_LIMIT_DEFAULT: unlimited,
    RATE_LIMIT_ORDERS_CREATE: unlimited,
  });
  return inSeparateSuite(settings, { gateway: true }, say, async (suite) => {
    for (const service of services) suite.useCode(service, releaseDir);
    const stack = await suite.startAll();
    const { openTraffic } = await import('./traffic.ts'); // imported late, since it needs the compiled code
    const traffic = await openTraffic(stack);
    try {
      const progress = new Progress();
      const outcomes = await rollOut(services, {
        migrate: (service) => progress.step(`Migrations of ${service}`, () => suite.migrate(service, root)),
        replace: async (service) => {
          suite.useCode(service, root);
          await progress.step(`Process of ${service}`, () => suite.restart(service));
        },
        underLoad: (change) => traffic.during(change),
      });
      return [...outcomes];
    } finally {
      await traffic.stop();
    }
  });
}

runMain(main, help);
