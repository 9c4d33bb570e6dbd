import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabases, dropDatabases, type ServiceDatabase } from './databases.ts';

const adminUrl = process.env.TEST_POSTGRES_URL ?? '';

/** Runs a statement with the role of a service, by default in its own database. */
async function queryAs(
  own: ServiceDatabase,
  statement: string,
  database = own.database,
): Promise<readonly unknown[]> {
  const url = new URL(adminUrl);
  url.username = own.role;
  url.password = own.password;
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

describe('createDatabases', () => {
  const tag = randomBytes(4).toString('hex');
  const testDatabase = (service: ServiceDatabase['service'], name: string): ServiceDatabase => ({
    service,
    database: `bootstrap_${tag}_${name}`,
    role: `bootstrap_${tag}_${name}`,
    password: `it's ${tag}`,
  });
  const store = testDatabase('store-api', 'store');
  const creator = testDatabase('creator-api', 'creator');
  beforeAll(() => createDatabases(adminUrl, [store, creator]));
  afterAll(() => dropDatabases(adminUrl, [store, creator]));

  it('lets a role create tables in its own database, but not connect to another database', async () => {
    await queryAs(store, 'CREATE TABLE things (id int)');
    await expect(queryAs(store, 'SELECT 1', creator.database)).rejects.toThrow(
      'permission denied for database',
    );
  });

  it('gives a role no administrative right on the server', async () => {
    const rights = 'rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls';
    expect(await queryAs(store, `SELECT ${rights} FROM pg_roles WHERE rolname = current_user`)).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
      },
    ]);
  });

  it('lets creator-api, but not store-api, assume the request role creator_api_member', async () => {
    await queryAs(creator, 'SET ROLE creator_api_member');
    await expect(queryAs(store, 'SET ROLE creator_api_member')).rejects.toThrow('permission denied');
  });

  it('lets a second role act as the first role while the password of the first is replaced', async () => {
    const second = { ...creator, role: `${creator.role}_rotation`, password: `second ${tag}` };
    const rotated = { ...creator, password: `rotated ${tag}` };
    const admin = new pg.Client({ connectionString: adminUrl });
    await admin.connect();
    try {
      // The statements of docs/runbook.md ("Rotate a secret").
      await admin.query(
        `CREATE ROLE ${second.role} LOGIN PASSWORD '${second.password}' IN ROLE ${creator.role}`,
      );
      await admin.query(`ALTER ROLE ${second.role} SET role = ${creator.role}`);
      await createDatabases(adminUrl, [second]); // `docker compose up` in the middle of the rotation
      await admin.query(`ALTER ROLE ${creator.role} PASSWORD '${rotated.password}'`);
      await queryAs(second, 'CREATE TABLE written (id int)');
      // RESET ROLE returns to the first role, which ALTER ROLE has made the initial role of the session.
      await queryAs(second, 'SET ROLE creator_api_member; RESET ROLE; INSERT INTO written VALUES (1)');
      expect(await queryAs(rotated, "SELECT tableowner FROM pg_tables WHERE tablename = 'written'")).toEqual([
        { tableowner: creator.role },
      ]);
    } finally {
      await admin.query(`DROP ROLE IF EXISTS ${second.role}`);
      await admin.end();
    }
    await createDatabases(adminUrl, [rotated]); // `docker compose up` after the rotation
    await queryAs(rotated, 'INSERT INTO written VALUES (2)');
  });

  it('replaces the password and keeps the data when it is repeated with another password', async () => {
    const rotated = { ...store, password: `rotated ${tag}` };
    await queryAs(store, 'CREATE TABLE kept AS SELECT 7 AS id');
    await createDatabases(adminUrl, [rotated]);
    expect(await queryAs(rotated, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
    await expect(queryAs(store, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });
});
