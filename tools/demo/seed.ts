import { z } from 'zod';
import type { Seeded } from '../dev/state/stack-file.ts';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { operate } from '../ops/operate.ts';
import { waitForOutcome } from '../ops/wait-for-outcome.ts';
import { dashboardRedirect, operator, organisations } from './accounts.ts';
import { demoCatalogue } from './catalogue.ts';
import { demoRates } from './rates.ts';
import { demoShipping } from './shipping.ts';

const batchResults = z.object({ results: z.array(z.record(z.string(), z.unknown())) });
const createdCreator = z.object({
  uuid: z.string(),
  id: z.string(),
  name: z.string(),
  message_id: z.string(),
});
const createdClient = z.object({ client_id: z.string(), client_secret: z.string().optional() });

/** Loads the demo data, idempotently. Returns its members of `stack.json`. */
export async function seed(access: OperatorAccess): Promise<Seeded> {
  const catalogue = demoCatalogue(organisations.flatMap(({ creators }) => creators));
  const [accounts] = await Promise.all([
    loadAccounts(access),
    operate(access, 'store-api', ['shipping', 'load'], JSON.stringify(demoShipping())),
    operate(access, 'creator-api', ['rates', 'load', '-'], demoRates(new Date())),
    operate(access, 'store-api', ['catalogue', 'load'], JSON.stringify(catalogue)),
  ]);
  return accounts;
}

const newCreators = organisations.flatMap(({ id: organisation, creators }) =>
  creators.map(({ uuid: id, name }) => ({ id, name, organisation, 'payment-method': 'pm_ok' })),
);

/** Creates all accounts with one program, since starting one for each would be slow. */
async function loadAccounts(access: OperatorAccess): Promise<Seeded> {
  const { results } = batchResults.parse(
    await operate(access, 'auth-server', ['batch'], JSON.stringify(accountCommands())),
  );
  // The results are in the order of the commands.
  const creatorsStart = organisations.length;
  const clientsStart = creatorsStart + newCreators.length;
  const creators = z.array(createdCreator).parse(results.slice(creatorsStart, clientsStart));
  const [dashboard, resourceServer] = z
    .tuple([createdClient, createdClient])
    .parse(results.slice(clientsStart, clientsStart + 2));
  await Promise.all(
    creators.flatMap(({ message_id: id }) =>
      ['store-api', 'creator-api'].map((service) => waitForOutcome(access, service, id)),
    ),
  );
  return {
    users: usersWith(creators),
    clients: {
      dashboard: { client_id: dashboard.client_id, redirect_uri: dashboardRedirect },
      resource_server: {
        client_id: resourceServer.client_id,
        client_secret: resourceServer.client_secret ?? (await newSecret(access, resourceServer.client_id)),
      },
    },
  };
}

/** Returns the command lines that create organisations, creators, clients and users, in this order. */
function accountCommands(): string[][] {
  const users = organisations.flatMap(({ id: organisation, users: members }) =>
    members.map((user) => ({ organisation, ...user })),
  );
  const dashboard = { id: 'dashboard', name: 'Creator dashboard', 'redirect-uri': dashboardRedirect };
  const resourceServer = { id: 'resource_server', name: 'Resource server' };
  return [
    ...organisations.map(({ id, name }) => commandWords('organisation create', { id, name })),
    ...newCreators.map((creator) => commandWords('creator create', creator)),
    [...commandWords('client create', dashboard), '--first-party'],
    [...commandWords('client create', resourceServer), '--resource-server'],
    ...users.map((user) => commandWords('user create', user)),
    commandWords('user create', { role: 'global_admin', ...operator }),
  ];
}

/** Returns the users of `stack.json`: those of the organisations with their creators, and the operator. */
function usersWith(created: readonly z.infer<typeof createdCreator>[]): Seeded['users'] {
  const members = organisations.flatMap(({ id, users, creators: own }) =>
    users.map(({ email, password, role }) => ({
      email,
      password,
      org_id: id,
      org_role: role,
      creators: created
        .filter((creator) => own.some(({ uuid }) => uuid === creator.uuid))
        .map(({ message_id: _, ...creator }) => creator),
    })),
  );
  const { email, password } = operator;
  return [...members, { email, password, org_id: null, org_role: 'global_admin', creators: [] }];
}

/** Creates a new secret for a client of an earlier start, since a secret is shown only once. */
async function newSecret(access: OperatorAccess, clientId: string): Promise<string> {
  const created = createdClient
    .required()
    .parse(await operate(access, 'auth-server', ['client', 'secret', clientId], ''));
  return created.client_secret;
}

/** Returns the words of a command line: `commandWords('user create', { email })`. */
function commandWords(command: string, options: Readonly<Record<string, string>>): string[] {
  return [...command.split(' '), ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
}
