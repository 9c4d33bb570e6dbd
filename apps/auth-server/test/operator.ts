import { afterAll, beforeAll } from '@jest/globals';
import { accountCommands } from '../src/operator/account-commands.js';
import { auditCommands } from '../src/operator/audit-commands.js';
import { clientCommands } from '../src/operator/client-commands.js';
import { creatorCommands } from '../src/operator/creator-commands.js';
import { keyCommands } from '../src/operator/key-commands.js';
import { operatorContext } from '../src/operator/operator-context.js';
import { type RunningServer, runningServer } from './running-server.js';

const commands = {
  ...accountCommands,
  ...creatorCommands,
  ...clientCommands,
  ...keyCommands,
  ...auditCommands,
};

/** The operator's program on a running server's stores, without a process of its own. */
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
    /** What the program prints, read again. @param given operands and flags by their names */
    run: async (
      command: keyof typeof commands,
      given: Readonly<Record<string, unknown>> = {},
      site: typeof context = context,
    ): Promise<ReturnType<typeof JSON.parse>> => {
      const work: (of: typeof context) => Promise<object> = commands[command].prepare(given);
      return JSON.parse(JSON.stringify(await work(site)));
    },
    stop: async () => {
      for (const close of closings) await close();
    },
  };
}

type Operator = ReturnType<typeof operatorOf>;

/** A server of the file's own, and the operator on it. To be called where hooks may be. */
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
