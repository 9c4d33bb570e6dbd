import { serviceNames } from '@fulfilment/contracts/permissions';
import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { Progress } from '../dev/output/progress.ts';
import { readSeparateSettings } from '../dev/settings.ts';
import { wholeNumber } from '../dev/whole-number.ts';

const help = `npm run restore-drill: restores the database of one service to an earlier time while the others keep running.

It starts a separate suite, as npm run chaos does, archives the write-ahead log of PostgreSQL, and takes a base
backup. It places orders through the gateway, stops one service, restores its database into another server, and
starts the service with it. Then it runs the operator commands of docs/runbook.md ("Backups"), compares the accepted
orders with what each service has, and prints the differences and the measured times. The exit status is 1 if anything
is missing or doubled that the restore does not explain.

  --service NAME   ${serviceNames.join(', ')} (default: store-api)
  --seconds N      age of the state to restore, in seconds (default: 20)

Settings (environment):
  SUITE_DRILL_BASE_PORT   base port (default: 25443)
  SUITE_DEV_DIR           directory for state; it uses the subdirectory "restore-drill" (default: .dev)`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      service: { type: 'string', default: 'store-api' },
      seconds: { type: 'string', default: '20' },
    },
  });
  const service = serviceNames.find((name) => name === values.service);
  if (service === undefined) throw new Failure(`--service must be one of ${serviceNames.join(', ')}.`);
  const secondsAgo = wholeNumber('seconds', values.seconds, 1, 9_999);
  await new Progress().step('Build', buildAll);
  const { runDrill } = await import('./run-drill.ts'); // imported late, since it needs the compiled code
  return runDrill(readSeparateSettings('restore-drill'), { service, secondsAgo });
}

runMain(main, help);
