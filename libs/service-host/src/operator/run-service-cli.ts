import { connectProgram, createDataSource, Database } from '@fulfilment/database';
import { readConfig, serviceSettings } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import type { MigrationInterface } from 'typeorm';
import type { z } from 'zod';
import { doctorCommands, type ExaminedService } from './doctor-command.js';
import { operatorAuditCommands } from './operator-audit-command.js';
import { runAudited } from './operator-audit.js';
import type { Commands } from './define-command.js';
import { runAsOperator } from './operator-name.js';
import { type OpenedContext, runCli } from './run-cli.js';

const workload = 'operator'; // some commands sum a whole ledger or search a long audit log

/** The resources of a service's commands. */
export interface CommandContext<Settings> {
  readonly database: Database;
  readonly settings: Settings;
  /** Reads the whole standard input. */
  readonly input: () => Promise<string>;
  /** Registers a close function that runs before the program ends. */
  readonly atEnd: (close: () => Promise<void>) => void;
}

/** The operator program of a service. */
interface ServiceCli<Settings extends z.ZodType<{ readonly DATABASE_URL: string }>, Context extends object> {
  readonly name: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  readonly settings: Settings;
  readonly commands: Commands<Context>;
  readonly doctor: Omit<ExaminedService, 'name' | 'migrations'>;
  /** Returns the context of the program's commands. */
  readonly context: (context: CommandContext<Readonly<z.output<Settings>>>) => Context;
}

/**
 * Runs the operator program of a service (`node dist/cli.js NOUN VERB --options`): one command, or a batch,
 * on the database of the service. Prints one JSON object, or one line on standard error with exit code 1.
 * Messages about its changes go to the outbox, from which the running service publishes them.
 */
export async function runServiceCli<
  Settings extends z.ZodType<{ readonly DATABASE_URL: string }>,
  Context extends object,
>(program: ServiceCli<Settings, Context>): Promise<void> {
  const { name, migrations, doctor } = program;
  const commands: Commands<Context & { readonly database: Database }> = {
    ...program.commands,
    ...operatorAuditCommands,
  };
  const input = (): Promise<string> => text(process.stdin);
  const { ok, line } = await runCli(
    {
      commands,
      standalone: doctorCommands({ ...doctor, name, migrations }),
      open: (operator) => openContext(program, operator, input),
      environment: process.env,
    },
    process.argv.slice(2),
    input,
  );
  (ok ? process.stdout : process.stderr).write(`${line}\n`);
  if (!ok) process.exitCode = 1;
}

/** Connects to the database, for all commands of the process. */
async function openContext<
  Settings extends z.ZodType<{ readonly DATABASE_URL: string }>,
  Context extends object,
>(
  { name, migrations, settings: schema, context: contextOf }: ServiceCli<Settings, Context>,
  operator: string,
  input: () => Promise<string>,
): Promise<OpenedContext<Context & { readonly database: Database }>> {
  const settings = readConfig(schema);
  const { DATABASE_DIRECT_URL: directUrl } = readConfig(serviceSettings.pick({ DATABASE_DIRECT_URL: true }));
  const dataSource = createDataSource({
    url: directUrl ?? settings.DATABASE_URL,
    poolSize: 2,
    applicationName: `${name} cli`,
    migrations,
    workload,
  });
  await connectProgram(dataSource, { workload });
  const database = new Database(dataSource);
  const closeSteps = [() => dataSource.destroy()];
  const atEnd = (close: () => Promise<void>): void => void closeSteps.unshift(close);
  return {
    context: { ...contextOf({ database, settings, input, atEnd }), database },
    runAudited: (command, run) => runAsOperator(operator, () => runAudited(database, operator, command, run)),
    close: async () => {
      for (const step of closeSteps) await step();
    },
  };
}
