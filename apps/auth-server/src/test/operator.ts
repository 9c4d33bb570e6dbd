import { afterAll, beforeAll } from '@jest/globals';
import { accountCommands } from '../operator/account-commands.js';
import { auditCommands } from '../operator/audit-commands.js';
import { clientCommands } from '../operator/client-commands.js';
import { creatorCommands } from '../operator/creator-commands.js';
import { keyCommands } from '../operator/key-commands.js';
import { operatorContext } from '../operator/operator-context.js';
import { type RunningServer, runningServer } from './running-server.js';

const commands = {
  ...accountCommands,
  ...creatorCommands,
  ...clientCommands,
  ...keyCommands,
  ...auditCommands,
};

/** Runs operator commands on a running server's stores, in this process. */
function operatorOf(server: RunningServer) {
  const closings: (() => Promise<void>)[] = [];
  const context = operatorContext({
    database: server.database,
    settings: server.config,
    input: () => Promise.resolve(''),
    atEnd: (close) => void closings.push(close),
  });
  return {
    context,
    /** The parsed output of a command. @param given operands and flags by name */
    run: async (
      command: keyof typeof commands,
      given: Readonly<Record<string, unknown>> = {},
      site: typeof context = context,
    ): Promise<ReturnType<typeof JSON.parse>> => {
      const work: (target: typeof context) => Promise<object> = commands[command].prepare(given);
      return JSON.parse(JSON.stringify(await work(site)));
    },
    stop: async () => {
      for (const close of closings) await close();
    },
  };
}

type Operator = ReturnType<typeof operatorOf>;

/** Starts a server for the spec file, with its operator. Call it where hooks are allowed. */
export function serverWithOperator() {
  let server: RunningServer | undefined;
  let operator: Operator | undefined;
  beforeAll(async () => {
    server = await runningServer();
    operator = operatorOf(server);
  });
  afterAll(async () => {
    await operator?.stop();
    await server?.stop();
  });
  return {
    get server(): RunningServer {
      return begun(server);
    },
    get operator(): Operator {
      return begun(operator);
    },
  };
}

function begun<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('The tests have not begun.');
  return part;
}
