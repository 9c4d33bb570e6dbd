import { createDataSource, Database } from '@fulfilment/database';
import { readConfig } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import type { MigrationInterface } from 'typeorm';
import type { z } from 'zod';
import { operatorAuditCommands } from './operator-audit-command.js';
import { type RecordedCommand, runRecorded } from './operator-audit.js';
import type { OperatorCommands } from './operator-command.js';
import { asOperator } from './operator-name.js';
import { runOperator } from './run-operator.js';

/** What a service's commands may stand on. */
export interface OperatorSite<Settings> {
  readonly database: Database;
  readonly settings: Settings;
  /** The standard input, whole. */
  readonly input: () => Promise<string>;
  /** Closes what a command opened besides the database, before the program ends. */
  readonly atEnd: (close: () => Promise<void>) => void;
}

/**
 * The operator's program of a service (`node dist/operate.js NOUN VERB --flags`): carries out one command, or a batch, on its database.
 * Prints one JSON object; or one line on standard error, and ends with 1. Messages it writes are relayed by the running service.
 * @param program.settings what it needs of its environment; `context` makes of them what its commands take
 */
export async function operateService<
  Settings extends z.ZodType<{ readonly DATABASE_URL: string }>,
  Context extends object,
>(program: {
  readonly name: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  readonly settings: Settings;
  readonly commands: OperatorCommands<Context>;
  readonly context: (site: OperatorSite<Readonly<z.output<Settings>>>) => Context;
}): Promise<void> {
  const { name, migrations } = program;
  const commands = { ...program.commands, ...operatorAuditCommands };
  const input = (): Promise<string> => text(process.stdin);
  const open = async (operator: string) => {
    const settings = readConfig(program.settings);
    const dataSource = createDataSource({
      url: settings.DATABASE_URL,
      poolSize: 2,
      applicationName: `${name} operate`,
      migrations,
      statementTimeoutMs: 0, // a whole ledger is summed anew, a long audit log is searched
    });
    await dataSource.initialize();
    const closings = [() => dataSource.destroy()];
    const atEnd = (close: () => Promise<void>): void => void closings.unshift(close);
    const database = new Database(dataSource);
    const context = { ...program.context({ database, settings, input, atEnd }), database };
    const close = async (): Promise<void> => {
      for (const step of closings) await step();
    };
    return {
      context,
      close,
      runRecorded: (command: RecordedCommand, run: () => Promise<object>) =>
        asOperator(operator, () => runRecorded(database, operator, command, run)),
    };
  };
  const { ok, line } = await runOperator(
    { commands, open, environment: process.env },
    process.argv.slice(2),
    input,
  );
  (ok ? process.stdout : process.stderr).write(`${line}\n`);
  if (!ok) process.exitCode = 1;
}
