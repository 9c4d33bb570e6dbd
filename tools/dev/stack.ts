import { parseArgs } from 'node:util';
import { z } from 'zod';
import { alignColumns } from './output/align-columns.ts';
import { Failure, runMain } from './failure.ts';
import { notRunning, readSettings } from './settings.ts';
import { control } from './supervisor/control.ts';
import { type PartStatus, partStatus, verbs } from './supervisor/part.ts';

const help = `npm run stack -- <command> [--json]

  status                 show name, state, pid, uptime and restarts of each service and dependency
  stop NAME              stop it until the next start
  start NAME             start it; returns when it is ready
  restart NAME           stop it, then start it
  kill NAME              send SIGKILL; it is restarted automatically
  pause NAME             send SIGSTOP, so that it hangs
  resume NAME            send SIGCONT

NAME: store-api, creator-api, auth-server, webhook-worker, gateway, postgres, redis, rabbitmq`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  });
  const [command = 'status', name] = positionals;
  const isVerb = verbs.some((verb) => verb === command);
  const isComplete = isVerb ? positionals.length === 2 : command === 'status' && positionals.length <= 1;
  if (!isComplete)
    throw new Failure(
      'Expected status, or one of stop, start, restart, kill, pause, resume with a NAME. For help: npm run stack -- --help',
    );
  const { stateDir } = readSettings();
  const response = await control(stateDir, command, name);
  if (response === undefined) throw notRunning(stateDir);
  const rows = z.array(partStatus).parse(isVerb ? [response.result] : response.result);
  if (values.json) console.log(JSON.stringify(isVerb ? rows[0] : rows));
  else for (const line of formatRows(rows)) console.log(line);
}

function formatRows(rows: readonly PartStatus[]): string[] {
  return alignColumns([
    ['NAME', 'STATE', 'PID', 'UPTIME', 'RESTARTS'],
    ...rows.map(({ name, state, pid, uptime_seconds, restarts }) => {
      const uptime = uptime_seconds === null ? '-' : `${uptime_seconds} s`;
      return [name, state, String(pid ?? '-'), uptime, String(restarts)];
    }),
  ]);
}

runMain(main, help);
