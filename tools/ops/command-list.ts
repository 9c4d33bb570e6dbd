import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cliOf, nounsOfServices, opsCommand, serviceOf } from './services.ts';

/** A command as its service describes it. */
interface ListedCommand {
  readonly usage: string;
  readonly summary: string;
}

/** Commands for several services, or for the one that `--service` names. */
export const suiteCommands: readonly ListedCommand[] = [
  {
    usage: 'creator rebuild',
    summary: 'replays creators and orders to creator-api; rebuilds its read models and sums while it runs',
  },
  {
    usage: 'audit --service SERVICE [--operator NAME] [--limit NUMBER] [--before POSITION]',
    summary: 'shows the operator commands that were run on that service, newest last',
  },
  {
    usage: 'batch --service SERVICE',
    summary: 'runs the command lines of standard input, a JSON array of arrays of words, in their order',
  },
  {
    usage: 'doctor [--service SERVICE]',
    summary: 'examines settings and stores of the services, and prints what is wrong and how to correct it',
  },
];

/** Commands that every service has. `npm run ops` offers them as `audit --service` and `doctor`. */
const commandsOfEveryService = ['operator-audit', 'doctor'];

/**
 * Returns the commands of each service, from the help of its program.
 * @throws Error for a command that `npm run ops` does not forward to its service
 */
export async function listCommands(): Promise<(readonly [service: string, ListedCommand[]])[]> {
  return Promise.all(
    Object.keys(nounsOfServices).map(async (service) => [service, await listCommandsOf(service)] as const),
  );
}

async function listCommandsOf(service: string): Promise<ListedCommand[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [cliOf(service), '--help']);
  const lines = stdout.matchAll(/^ {2}(\S.*)\n {6}(.*)$/gm);
  const commands = [...lines].map(([, usage = '', summary = '']) => ({ usage, summary }));
  const own = commands.filter(({ usage }) => !commandsOfEveryService.includes(usage.split(' ', 1)[0] ?? ''));
  const unreachable = own.find(({ usage }) => serviceOf(usage.split(' ', 1)[0]) !== service);
  if (unreachable !== undefined)
    throw new Error(`npm run ops does not forward "${unreachable.usage}" to ${service}.`);
  return own;
}

/** Returns the help text of `npm run ops`. */
export async function help(): Promise<string> {
  const sections = [...(await listCommands()), ['several services', suiteCommands] as const];
  return [
    `${opsCommand} COMMAND [--json] [--as OPERATOR]; for the options of a command: ${opsCommand} COMMAND --help`,
    ...sections.map(([title, commands]) =>
      [`${title}:`, ...commands.map(({ usage, summary }) => `  ${usage}\n      ${summary}`)].join('\n'),
    ),
    argumentsHelp,
  ].join('\n\n');
}

export const argumentsHelp = `ORDER and SKU are ids of the Store API (ord_…, prod_…). CREATOR and RELEASE are UUIDs or ids. USER is a UUID or an e-mail address.
TIME is an ISO 8601 time, or a duration before now: 30m, 2h, 7d.
\`order ship\`, \`track\`, \`deliver\` and \`cancel\`, and the commands for stock, products and releases, publish messages, and return when these are applied.`;
