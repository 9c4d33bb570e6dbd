import { accountCommands } from '../src/operator/account-commands.js';
import { auditCommands } from '../src/operator/audit-commands.js';
import { clientCommands } from '../src/operator/client-commands.js';
import { creatorCommands } from '../src/operator/creator-commands.js';
import { operatorContext } from '../src/operator/operator-context.js';
import type { RunningServer } from './running-server.js';

const commands = { ...accountCommands, ...creatorCommands, ...clientCommands, ...auditCommands };

/** The operator's program on a running server's stores, without a process of its own. */
export function operatorOf(server: RunningServer) {
  const closings: (() => Promise<void>)[] = [];
  const context = operatorContext({
    database: server.database,
    settings: server.config,
    input: () => Promise.resolve(''),
    atEnd: (close) => void closings.push(close),
  });
  return {
    /** What the program prints, read again. @param given operands and flags by their names */
    run: async (
      command: keyof typeof commands,
      given: Readonly<Record<string, unknown>> = {},
    ): Promise<ReturnType<typeof JSON.parse>> => {
      const work: (of: typeof context) => Promise<object> = commands[command].prepare(given);
      return JSON.parse(JSON.stringify(await work(context)));
    },
    stop: async () => {
      for (const close of closings) await close();
    },
  };
}
