import pg from 'pg';

/** The database of one service, with the role that owns it. */
export interface ServiceDatabase {
  readonly service: ServiceName;
  readonly database: string;
  readonly role: string;
  readonly password: string;
}

export const serviceNames = ['store-api', 'creator-api', 'auth-server', 'webhook-worker'] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * Roles without ownership, under which a service runs requests (row-level security). PostgreSQL roles are
 * shared by all databases of a server.
 */
const requestRoles: Partial<Record<ServiceName, readonly string[]>> = {
  'creator-api': ['creator_api_member', 'creator_api_operator'],
};

/**
 * Creates the roles and databases of services, and sets the passwords. May be repeated, and continues after
 * an interruption. A role owns its own database, may connect to it as the only one, and has no further right.
 * @param adminUrl URL of a role that may create roles and databases
 */
export async function createDatabases(
  adminUrl: string,
  databases: readonly ServiceDatabase[],
): Promise<void> {
  await asAdministrator(adminUrl, async (client) => {
    for (const { service, ...wanted } of databases) {
      const role = pg.escapeIdentifier(wanted.role);
      const database = pg.escapeIdentifier(wanted.database);
      const known = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [wanted.role]);
      await client.query(
        `${known.rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${role} LOGIN PASSWORD ${pg.escapeLiteral(wanted.password)}`,
      );
      for (const name of requestRoles[service] ?? []) {
        const found = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name]);
        if (found.rowCount === 0) await client.query(`CREATE ROLE ${pg.escapeIdentifier(name)} NOLOGIN`);
        await client.query(`GRANT ${pg.escapeIdentifier(name)} TO ${role}`);
      }
      const exists = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [wanted.database]);
      await client.query(`GRANT ${role} TO CURRENT_USER`); // creating for another owner requires membership
      if (exists.rowCount === 0) await client.query(`CREATE DATABASE ${database} OWNER ${role}`);
      await client.query(`REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`);
    }
  });
}

/** Deletes databases and their roles. The request roles stay, because other suites may share them. */
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
