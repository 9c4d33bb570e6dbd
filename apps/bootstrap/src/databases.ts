import type { ServiceName } from '@fulfilment/contracts/permissions';
import pg from 'pg';

/** Names of the services' databases, and of the roles that own them. */
export const databaseNames = {
  'store-api': 'store',
  'creator-api': 'creator',
  'auth-server': 'auth',
  'webhook-worker': 'webhooks',
} as const satisfies Record<ServiceName, string>;

/** The database of one service, with the role that owns it. */
export interface ServiceDatabase {
  readonly service: ServiceName;
  readonly database: string;
  readonly role: string;
  readonly password: string;
}

/** Roles that a service assumes during a request, for row-level security. They own nothing. */
const requestRoles: Partial<Record<ServiceName, readonly string[]>> = {
  'creator-api': ['creator_api_member', 'creator_api_operator'],
};

/**
 * Creates the roles and databases of services, and sets the passwords. May be repeated, and continues after
 * an interruption. A created role owns its database, may assume the request roles of its service, and has no
 * further right; no role of another service may connect to the database.
 * @param adminUrl URL of a role that may create roles and databases
 */
export async function createDatabases(
  adminUrl: string,
  databases: readonly ServiceDatabase[],
): Promise<void> {
  await asAdministrator(adminUrl, async (client) => {
    for (const { service, role, password, database } of databases) {
      await createOrAlterRole(client, role, `LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
      for (const requestRole of requestRoles[service] ?? []) {
        await createOrAlterRole(client, requestRole, 'NOLOGIN');
        await client.query(`GRANT ${pg.escapeIdentifier(requestRole)} TO ${pg.escapeIdentifier(role)}`);
      }
      await prepareDatabase(client, database, role);
    }
  });
}

async function createOrAlterRole(client: pg.Client, role: string, options: string): Promise<void> {
  const existing = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  const verb = existing.rowCount === 0 ? 'CREATE' : 'ALTER';
  await client.query(`${verb} ROLE ${pg.escapeIdentifier(role)} ${options}`);
}

/** Creates the database if it is missing, and lets only its owner connect. */
async function prepareDatabase(client: pg.Client, name: string, ownerRole: string): Promise<void> {
  const database = pg.escapeIdentifier(name);
  const owner = pg.escapeIdentifier(ownerRole);
  await client.query(`GRANT ${owner} TO CURRENT_USER`); // creating for another owner requires membership
  const existing = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (existing.rowCount === 0) await client.query(`CREATE DATABASE ${database} OWNER ${owner}`);
  await client.query(`REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`);
}

/** Deletes databases and their roles. The request roles stay: other suites at the server may use them. */
export async function dropDatabases(
  adminUrl: string,
  databases: readonly Pick<ServiceDatabase, 'database' | 'role'>[],
): Promise<void> {
  await asAdministrator(adminUrl, async (client) => {
    for (const { database, role } of databases) {
      await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(database)} WITH (FORCE)`);
      await client.query(`DROP ROLE IF EXISTS ${pg.escapeIdentifier(role)}`);
    }
  });
}

async function asAdministrator(adminUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
