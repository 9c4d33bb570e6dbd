import { connectProgram, createDataSource, Database } from '@fulfilment/database';
import { readConfig, serviceSettings } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import type { MigrationInterface } from 'typeorm';
import type { z } from 'zod';
import { doctorCommands, type ExaminedService } from './doctor-command.js';
import { operatorAuditCommands } from './operator-audit-command.js';
import { type AuditedCommand, runAudited } from './operator-audit.js';
import type { Commands } from './define-command.js';
import { runAsOperator } from './operator-name.js';
import { runCli } from './run-cli.js';

const statementTimeoutMs = 0; // no limit: some commands sum a whole ledger or search a long audit log

/** The resources of a service's commands. */
export interface CommandContext<Settings> {
  readonly database: Database;
  readonly settings: Settings;
  /** Reads the whole standard input. */
  readonly input: () => Promise<string>;
  /** Registers a close function that runs before the program ends. */
  readonly atEnd: (close: () => Promise<void>) => void;
}

/**
 * Runs the operator program of a service (`node dist/cli.js NOUN VERB --options`): one command, or a batch,
 * on the database of the service. Prints one JSON object, or one line on standard error with exit code 1.
 * Messages go to the outbox, from which the running service publishes them.
 * @param program.context maps the common context to that of the program's commands
 */
export async function runServiceCli<
  Settings extends z.ZodType<{ readonly DATABASE_URL: string }>,
  Context extends object,
>(program: {
  readonly name: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  readonly settings: Settings;
  readonly commands: Commands<Context>;
  readonly doctor: Omit<ExaminedService, 'name' | 'migrations'>;
  readonly context: (context: CommandContext<Readonly<z.output<Settings>>>) => Context;
}): Promise<void> {
  const { name, migrations } = program;
  const commands = { ...program.commands, ...operatorAuditCommands };
  const input = (): Promise<string> => text(process.stdin);
  const open = async (operator: string) => {
    const settings = readConfig(program.settings);
    const { DATABASE_DIRECT_URL: directUrl } = readConfig(
      serviceSettings.pick({ DATABASE_DIRECT_URL: true }),
    );
    const dataSource = createDataSource({
      url: directUrl ?? settings.DATABASE_URL,
      poolSize: 2,
      applicationName: `${name} cli`,
      migrations,
      statementTimeoutMs,
    });
    await connectProgram(dataSource, { statementTimeoutMs });
    const closeSteps = [() => dataSource.destroy()];
    const atEnd = (close: () => Promise<void>): void => void closeSteps.unshift(close);
    const database = new Database(dataSource);
    const context = { ...program.context({ database, settings, input, atEnd }), database };
    const close = async (): Promise<void> => {
      for (const step of closeSteps) await step();
    };
    return {
      context,
      close,
      runAudited: (command: AuditedCommand, run: () => Promise<object>) =>
        runAsOperator(operator, () => runAudited(database, operator, command, run)),
    };
  };
  const { ok, line } = await runCli(
    {
      commands,
      standalone: doctorCommands({ ...program.doctor, name, migrations }),
      open,
      environment: process.env,
    },
    process.argv.slice(2),
    input,
  );
  (ok ? process.stdout : process.stderr).write(`${line}\n`);
  if (!ok) process.exitCode = 1;
}
