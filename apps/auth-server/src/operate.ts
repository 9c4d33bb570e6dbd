import { sandboxPaymentMethods } from '@fulfilment/contracts';
import { createDataSource, Database } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { key256, serviceSettings } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createOrganisation, newOrganisation } from './accounts/create-organisation.js';
import { createUser, newUser } from './accounts/create-user.js';
import { changePaymentMethod } from './creators/change-payment-method.js';
import { newCreator, registerCreator } from './creators/register-creator.js';
import { SigningKeys } from './keys/signing-keys.js';
import { migrations } from './migrations/index.js';
import { createClient, newClient } from './registration/create-client.js';

/**
 * The operator's commands against this service's database: `node dist/operate.js <noun> <verb> --flags --json`. Prints one JSON
 * object, or one line on standard error and exits with 1. Messages it writes are relayed by the running auth-server.
 */
const flags = {
  json: { type: 'boolean' },
  id: { type: 'string' },
  name: { type: 'string' },
  email: { type: 'string' },
  password: { type: 'string' },
  organisation: { type: 'string' },
  role: { type: 'string' },
  'payment-method': { type: 'string' },
  'settlement-currency': { type: 'string' },
  'redirect-uri': { type: 'string', multiple: true },
  'first-party': { type: 'boolean' },
  confidential: { type: 'boolean' },
} as const;

function readCommandLine(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: flags,
    allowPositionals: true,
    strict: true,
  });
  const [noun = '', verb = '', ...operands] = positionals;
  return { command: `${noun} ${verb}`, operands, values };
}
type CommandLine = ReturnType<typeof readCommandLine>;

async function operate(
  database: Database,
  outbox: Outbox,
  { command, operands, values }: CommandLine,
): Promise<object> {
  switch (command) {
    case 'organisation create':
      return createOrganisation(database, newOrganisation.parse(values));
    case 'user create':
      return createUser(database, newUser.parse(values));
    case 'creator create':
      return registerCreator(
        database,
        outbox,
        newCreator.parse({
          ...values,
          paymentMethod: values['payment-method'],
          settlementCurrency: values['settlement-currency'],
        }),
      );
    case 'creator payment-method':
      return changePaymentMethod(
        database,
        outbox,
        operands[0] ?? '',
        z.enum(sandboxPaymentMethods).parse(operands[1]),
      );
    case 'client create':
      return createClient(
        database,
        newClient.parse({
          ...values,
          redirectUris: values['redirect-uri'],
          firstParty: values['first-party'],
        }),
        keyEncryptionKey,
      );
    case 'keys rotate':
      return { active: await new SigningKeys(database, keyEncryptionKey()).rotate() };
    default:
      throw new Error(`There is no command "${command.trim()}".`);
  }
}

/** Many commands in one process: a JSON array of argument lists on standard input. The first that fails ends it. */
async function operateBatch(database: Database, outbox: Outbox): Promise<object> {
  const commandLines = z.array(z.array(z.string())).parse(JSON.parse(await text(process.stdin)));
  const results: object[] = [];
  for (const args of commandLines) results.push(await operate(database, outbox, readCommandLine(args)));
  return { results };
}

function keyEncryptionKey(): Buffer {
  return fromEnvironment('KEY_ENCRYPTION_KEY', key256());
}

function fromEnvironment<Output>(name: string, schema: z.ZodType<Output>): Output {
  const result = schema.safeParse(process.env[name]);
  if (!result.success) throw new Error(`The setting ${name} is missing or not usable.`);
  return result.data;
}

function explain(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map((issue) => `${flagOf(issue.path)}: ${issue.message}`).join('; ');
  }
  return error instanceof Error ? error.message : 'The command failed.';
}

function flagOf(path: readonly PropertyKey[]): string {
  return String(path[0] ?? 'argument').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

try {
  const commandLine = readCommandLine(process.argv.slice(2));
  const dataSource = createDataSource({
    url: fromEnvironment('DATABASE_URL', serviceSettings.shape.DATABASE_URL),
    poolSize: 2,
    applicationName: 'auth-server-operate',
    migrations,
  });
  await dataSource.initialize();
  try {
    const database = new Database(dataSource);
    const outbox = new Outbox();
    const batch = commandLine.command.trim() === 'batch';
    const answer = await (batch ? operateBatch(database, outbox) : operate(database, outbox, commandLine));
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  } finally {
    await dataSource.destroy();
  }
} catch (error) {
  process.stderr.write(`${explain(error).replaceAll('\n', ' ')}\n`);
  process.exitCode = 1;
}
