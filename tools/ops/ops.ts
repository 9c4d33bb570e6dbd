import { spawnSync } from 'node:child_process';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { help } from './command-list.ts';
import { format } from './format.ts';
import { operate } from './operate.ts';
import { rebuildCreatorApi } from './rebuild-creator-api.ts';
import { readOperatorAccess, type OperatorAccess } from './operator-access.ts';
import { cliOf, nounsOfServices, opsCommand, serviceOf, takeOption } from './services.ts';
import { waitForOutcome } from './wait-for-outcome.ts';

/** Services that must have applied the message about a creator before the creator can be used. */
const creatorConsumers = ['store-api', 'creator-api'];
const batchResults = z.object({ results: z.array(z.record(z.string(), z.unknown())) });

type Result = Record<string, unknown>;

/** Forwards the command line to the service that declares the command, and prints the result. */
async function main(): Promise<void> {
  const { value: operator, rest } = takeOption(process.argv.slice(2), '--as');
  if (operator === '') throw new Failure('--as must be followed by the name of the operator.');
  if (operator !== undefined) process.env.OPERATOR = operator;
  const args = rest.filter((arg) => arg !== '--json');
  const print = (result: Result): void =>
    console.log(rest.includes('--json') ? JSON.stringify(result) : format(result));
  const [noun = '', verb] = args;
  const service = serviceOf(noun);
  const isHelp = rest.length === 0 || args.some((arg) => arg === '--help' || arg === '-h');
  const hasVerb = verb !== undefined && !verb.startsWith('-');
  // A service has help for each of its commands. It does not know `creator rebuild`.
  const hasOwnHelp = service !== undefined && hasVerb && `${noun} ${verb}` !== 'creator rebuild';
  if (isHelp && !hasOwnHelp) return console.log(await help());
  if (noun === 'doctor') return runDoctor(args.slice(1), print);
  if (noun === 'batch') return print(await runBatch(args.slice(1)));
  if (service === undefined) throw new Failure(unknownCommand(noun, verb));
  if (isHelp) return showHelp(service, args);
  print(await run(await readOperatorAccess(), service, args));
}

async function run(access: OperatorAccess, service: string, args: readonly string[]): Promise<Result> {
  if (args.join(' ') === 'creator rebuild') return rebuildCreatorApi(access);
  // Without --service, the audit log of auth-server; with it, the operator commands that a service records.
  if (args[0] === 'audit') {
    const { named, rest } = takeService(args.slice(1));
    return named === undefined
      ? operate(access, service, args)
      : operate(access, named, ['operator-audit', ...rest]);
  }
  if (service !== 'auth-server') return operate(access, service, args);
  const { value: password, rest } = takeOption(args, '--password');
  const isGiven = password !== undefined && password !== '-' && password !== '';
  // The program may run in a container or on another machine, whose users can read its command line. So it
  // gets the password by standard input.
  const result = isGiven
    ? await operate(access, service, [...rest, '--password', '-'], password)
    : await operate(access, service, args);
  return untilApplied(access, result);
}

/** Waits until the message about a creator is applied, if the command published one. */
async function untilApplied(
  access: OperatorAccess,
  { message_id: messageId, ...result }: Result,
): Promise<Result> {
  if (typeof messageId === 'string')
    await Promise.all(creatorConsumers.map((consumer) => waitForOutcome(access, consumer, messageId)));
  return result;
}

/** Runs the commands of the standard input by one process of the service. */
async function runBatch(args: readonly string[]): Promise<Result> {
  const { named, rest } = takeService(args);
  if (named === undefined) throw new Failure('--service is missing.');
  const access = await readOperatorAccess();
  const { results } = batchResults.parse(await operate(access, named, ['batch', ...rest]));
  if (named !== 'auth-server') return { results };
  return { results: await Promise.all(results.map((result) => untilApplied(access, result))) };
}

/** Removes `--service` from the arguments. @throws Failure if it names no service */
function takeService(args: readonly string[]) {
  const { value: named, rest } = takeOption(args, '--service');
  if (named !== undefined && !Object.hasOwn(nounsOfServices, named))
    throw new Failure(`--service must be one of ${Object.keys(nounsOfServices).join(', ')}.`);
  return { named, rest };
}

/** Runs `doctor` of one service or all. An error of one service does not prevent the others. */
async function runDoctor(args: readonly string[], print: (result: Result) => void): Promise<void> {
  const { named, rest } = takeService(args);
  const running = await readOperatorAccess();
  // `doctor` examines the settings of the service itself, not those of its operator program.
  const access = { ...running, environments: running.service_environments ?? running.environments };
  const services = named === undefined ? Object.keys(nounsOfServices) : [named];
  const results = await Promise.allSettled(
    services.map((service) => operate(access, service, ['doctor', ...rest], '')),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') print(result.value);
    else {
      console.error(result.reason instanceof Error ? result.reason.message : String(result.reason));
      process.exitCode = 1;
    }
  }
}

function showHelp(service: string, args: readonly string[]): void {
  const env = { ...process.env, CLI_PROGRAM: opsCommand };
  process.exitCode =
    spawnSync(process.execPath, [cliOf(service), ...args], { env, stdio: 'inherit' }).status ?? 1;
}

function unknownCommand(noun: string, verb = ''): string {
  const isMissing = noun === '' || noun.startsWith('-');
  const problem = isMissing ? 'A command is missing.' : `Unknown command "${`${noun} ${verb}`.trim()}".`;
  return `${problem} All commands: ${opsCommand} --help`;
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const line = error instanceof Failure ? message : `The command failed: ${message}`;
  if (line !== '') console.error(line.trim().replaceAll(/\s*\n\s*/g, ' '));
  process.exit(1);
});
