import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { runServiceCli, defineCommand, type CommandContext } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import { migrations } from '../migrations/index.js';
import { testStatement } from '../test/test-statement.fixture.js';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
});
afterAll(() => scratch.drop());

/** Runs auth-server's operator program with two commands of this test, in this process. */
async function operate(...args: string[]): Promise<void> {
  const [argv, database] = [process.argv, process.env['DATABASE_URL']];
  process.argv = [...argv.slice(0, 2), ...args];
  process.env['DATABASE_URL'] = scratch.url;
  const write = process.stdout.write.bind(process.stdout);
  try {
    process.stdout.write = () => true;
    await runServiceCli({
      name: 'auth-server',
      migrations,
      settings: z.object({ DATABASE_URL: z.string() }),
      doctor: { allSettings: () => Promise.reject(new Error('not used')) },
      context: (context) => context,
      commands: {
        'thing create': defineCommand({
          summary: 'creates a thing',
          operands: ['THING'],
          options: ['--secret <S>'],
          arguments: z.object({ THING: z.string(), secret: z.string() }),
          run: async ({ database }: Pick<CommandContext<unknown>, 'database'>, { THING }) => {
            await auditOperator(database, { event: 'client_registered', clientId: THING });
            return { thing_id: 'made-1', client_secret: 'printed-secret' };
          },
        }),
        'thing break': defineCommand({
          summary: 'breaks a thing',
          operands: ['USER'],
          arguments: z.object({ USER: z.string() }),
          run: () => Promise.reject(new Error('It broke.')),
        }),
      },
    });
  } finally {
    process.stdout.write = write;
    process.argv = argv;
    process.env['DATABASE_URL'] = database ?? '';
    process.exitCode = undefined;
  }
}

const records = () =>
  scratch.database.rows(
    testStatement(
      'SELECT operator, command, subjects, options, outcome, ended_at IS NOT NULL AS ended FROM operator_audit ORDER BY position',
    ),
  );

it('audits commands with operator, ids and outcome, and without secrets or e-mail addresses', async () => {
  await operate('thing', 'create', 'abc', '--secret', 'typed-secret', '--as', 'ann');
  await operate('thing', 'break', 'owner@harbour.example', '--as', 'bea');
  await operate('operator-audit', '--as', 'cleo');
  expect(await records()).toEqual([
    {
      operator: 'ann',
      command: 'thing create',
      subjects: ['abc', 'made-1'],
      options: ['secret'],
      outcome: 'done',
      ended: true,
    },
    { operator: 'bea', command: 'thing break', subjects: [], options: [], outcome: 'failed', ended: true },
    { operator: 'cleo', command: 'operator-audit', subjects: [], options: [], outcome: 'done', ended: true },
  ]);
});

it('names the operator in the audit log', async () => {
  await operate('thing', 'create', 'abc', '--secret', 'typed-secret', '--as', 'dora');
  expect(
    await scratch.database.rows(
      testStatement(`SELECT client_id, details FROM audit_log ORDER BY position DESC LIMIT 1`),
    ),
  ).toEqual([{ client_id: 'abc', details: { actor: 'operator', operator: 'dora' } }]);
});
