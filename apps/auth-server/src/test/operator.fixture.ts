import type { AuditRecord } from '../audit/read-audit-log.js';
import { accountCommands } from '../operator/account-commands.js';
import { auditCommands } from '../operator/audit-commands.js';
import { clientCommands } from '../operator/client-commands.js';
import { creatorCommands } from '../operator/creator-commands.js';
import { keyCommands } from '../operator/key-commands.js';
import { type OperatorContext, operatorContext } from '../operator/operator-context.js';
import { server, startServer } from './server.fixture.js';
import { z } from 'zod';

const commands = {
  ...accountCommands,
  ...creatorCommands,
  ...clientCommands,
  ...keyCommands,
  ...auditCommands,
};

/** Makes the commands wait for Redis without a limit: ioredis ignores limits that are not numbers. */
const redisWaits = 'enableOfflineQueue=true&commandTimeout=none&maxRetriesPerRequest=none';

/** The context of the spec file's operator commands, while its tests run. */
export let commandContext: OperatorContext;

/** Starts a server for the spec file; `runCommand` uses its stores. Call it at the top level. */
export function startServerWithOperator(): void {
  const closeConnections: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closeConnections) await close();
  });
  startServer();
  beforeAll(() => {
    commandContext = operatorContext({
      database: server.database,
      settings: { ...server.config, REDIS_URL: `${server.config.REDIS_URL}&${redisWaits}` },
      input: () => Promise.resolve(''),
      atEnd: (close) => void closeConnections.push(close),
    });
  });
}

/**
 * Runs an operator command in this process. Returns its parsed output.
 * @param values operands, in upper case as in the help, and options, in lower case
 */
export async function runCommand(
  command: keyof typeof commands,
  values: Readonly<Record<string, unknown>> = {},
  context = commandContext,
): Promise<ReturnType<typeof JSON.parse>> {
  const run: (context: OperatorContext) => Promise<object> = commands[command].prepare(values);
  return JSON.parse(JSON.stringify(await run(context)));
}

const auditOutput = z.object({ events: z.array(z.custom<AuditRecord>()) });

/** Returns the records that the command `audit` prints, the newest last. */
export async function auditRecordsOf(filters: Readonly<Record<string, unknown>>): Promise<AuditRecord[]> {
  return auditOutput.parse(await runCommand('audit', filters)).events;
}
