import { z } from 'zod';
import type { BareStack, Seeded } from '../dev/stack-file.ts';
import type { OperatorSite } from '../dev/operator-site.ts';
import { waitUntilApplied } from '../ops/wait-until-applied.ts';
import { operate } from '../ops/operate.ts';
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
export async function seed(_stack: BareStack, site: OperatorSite): Promise<Seeded> {
  const [accounts] = await Promise.all([
    loadAccounts(site),
    operate(site, 'store-api', ['shipping', 'load'], JSON.stringify(demoShipping())),
    operate(site, 'creator-api', ['rates', 'load', '-'], demoRates(new Date())),
    operate(
      site,
      'store-api',
      ['catalogue', 'load'],
      JSON.stringify(demoCatalogue(organisations.flatMap(({ creators }) => creators))),
    ),
  ]);
  return accounts;
}

/** Creates all accounts with one program, since starting one for each would be slow. */
async function loadAccounts(site: OperatorSite): Promise<Seeded> {
  const creators = organisations.flatMap(({ id, creators: own }) =>
    own.map((creator) => ({ ...creator, organisation: id })),
  );
  const commands = [
    ...organisations.map(({ id, name }) => ['organisation', 'create', '--id', id, '--name', name]),
    ...creators.map(({ uuid, name, organisation }) => [
      'creator',
      'create',
      '--id',
      uuid,
      '--organisation',
      organisation,
      '--name',
      name,
      '--payment-method',
      'pm_ok',
    ]),
    ...organisations.flatMap(({ id, users }) =>
      users.map(({ email, name, password, role }) => [
        'user',
        'create',
        '--organisation',
        id,
        '--email',
        email,
        '--name',
        name,
        '--password',
        password,
        '--role',
        role,
      ]),
    ),
    [
      ...['user', 'create', '--role', 'global_admin', '--email', operator.email],
      ...['--name', operator.name, '--password', operator.password],
    ],
    [
      'client',
      'create',
      '--id',
      'dashboard',
      '--name',
      'Creator dashboard',
      '--redirect-uri',
      dashboardRedirect,
      '--first-party',
    ],
    ['client', 'create', '--id', 'resource_server', '--name', 'Resource server', '--resource-server'],
  ];
  const { results } = batchResults.parse(
    await operate(site, 'auth-server', ['batch'], JSON.stringify(commands)),
  );
  const createdCreators = results
    .slice(organisations.length, organisations.length + creators.length)
    .map((result) => createdCreator.parse(result));
  await Promise.all(
    createdCreators.flatMap(({ message_id: id }) =>
      ['store-api', 'creator-api'].map((service) => waitUntilApplied(site, service, id)),
    ),
  );
  const [dashboard, resourceServer] = results.slice(-2).map((result) => createdClient.parse(result));
  const readCreators = (uuids: readonly string[]) =>
    createdCreators
      .filter(({ uuid }) => uuids.includes(uuid))
      .map(({ uuid, id, name }) => ({ uuid, id, name }));
  return {
    users: [
      ...organisations.flatMap(({ id, users, creators: own }) =>
        users.map(({ email, password, role }) => ({
          email,
          password,
          org_id: id,
          org_role: role,
          creators: readCreators(own.map(({ uuid }) => uuid)),
        })),
      ),
      {
        email: operator.email,
        password: operator.password,
        org_id: null,
        org_role: 'global_admin',
        creators: [],
      },
    ],
    clients: {
      dashboard: { client_id: dashboard?.client_id ?? '', redirect_uri: dashboardRedirect },
      resource_server: {
        client_id: resourceServer?.client_id ?? '',
        client_secret:
          resourceServer?.client_secret ?? (await newSecret(site, resourceServer?.client_id ?? '')),
      },
    },
  };
}

/** A secret is shown once, so a client of an earlier start gets a new one. */
async function newSecret(site: OperatorSite, clientId: string): Promise<string> {
  const created = createdClient
    .required()
    .parse(await operate(site, 'auth-server', ['client', 'secret', clientId], ''));
  return created.client_secret;
}
