import pg from 'pg';
import type { Settings } from './settings.ts';
import { stateDirHash } from './settings.ts';
import type { Secrets } from './secrets.ts';

export const databaseNames = ['store', 'creator', 'auth', 'webhooks'] as const;
export type DatabaseName = (typeof databaseNames)[number];

/**
 * Roles without ownership, under which a service runs requests (row-level security). PostgreSQL roles are
 * shared by all databases of a server.
 */
const requestRoles: Partial<Record<DatabaseName, readonly string[]>> = {
  creator: ['creator_api_member', 'creator_api_operator'],
};

/** Names on an external server have the suite's tag, since it may hold several suites. */
export function databaseNamed(name: DatabaseName, settings: Settings): string {
  return settings.externalUrls.postgres === undefined ? name : `fulfilment_${stateDirHash(settings)}_${name}`;
}

/** URL of a service's database, with a role that owns only this database. */
export function databaseUrl(
  serverUrl: string,
  name: DatabaseName,
  settings: Settings,
  secrets: Secrets,
): string {
  const url = new URL(serverUrl);
  const own = databaseNamed(name, settings);
  url.username = own;
  url.password = secrets.databasePasswords[name];
  url.pathname = `/${own}`;
  return url.href;
}

/** Creates the missing roles and databases of the services. */
export async function createDatabases(
  serverUrl: string,
  settings: Settings,
  secrets: Secrets,
): Promise<void> {
  await asAdministrator(serverUrl, async (client) => {
    for (const name of databaseNames) {
      const own = pg.escapeIdentifier(databaseNamed(name, settings));
      const literal = pg.escapeLiteral(databaseNamed(name, settings));
      const password = pg.escapeLiteral(secrets.databasePasswords[name]);
      const { rowCount: roles } = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = ${literal}`);
      await client.query(`${roles === 0 ? 'CREATE' : 'ALTER'} ROLE ${own} LOGIN PASSWORD ${password}`);
      for (const role of requestRoles[name] ?? []) {
        const { rowCount: found } = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = '${role}'`);
        if (found === 0) await client.query(`CREATE ROLE ${role} NOLOGIN`);
        await client.query(`GRANT ${role} TO ${own}`);
      }
      const { rowCount: databases } = await client.query(
        `SELECT 1 FROM pg_database WHERE datname = ${literal}`,
      );
      if (databases !== 0) continue;
      await client.query(`GRANT ${own} TO CURRENT_USER`); // ALTER OWNER requires membership
      await client.query(`CREATE DATABASE ${own} OWNER ${own}`);
      await client.query(`REVOKE CONNECT ON DATABASE ${own} FROM PUBLIC`);
    }
  });
}

/**
 * Removes the databases and their owners from an external server. The request roles stay, because other
 * suites share them.
 */
export async function dropDatabases(serverUrl: string, settings: Settings): Promise<void> {
  await asAdministrator(serverUrl, async (client) => {
    for (const name of databaseNames) {
      const own = pg.escapeIdentifier(databaseNamed(name, settings));
      await client.query(`DROP DATABASE IF EXISTS ${own} WITH (FORCE)`);
      await client.query(`DROP ROLE IF EXISTS ${own}`);
    }
  });
}

async function asAdministrator(serverUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
