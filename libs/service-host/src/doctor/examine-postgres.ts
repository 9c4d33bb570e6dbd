import {
  connectProgram,
  connectWhenUp,
  createDataSource,
  Database,
  mayAssumeRoleSql,
  UnsuitableConnection,
  verifyNamedStatements,
  verifyOwnSession,
} from '@fulfilment/database';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import type { Deployment } from './deployment.js';
import { clockFindings, type Finding, findingAbout, findingIf, versionFindings } from './findings.rules.js';

const minVersion = [15];
/** SQLSTATE `undefined_table`. */
const undefinedTable = '42P01';

const serverRows = z.tuple([
  z.object({
    version: z.string(),
    encoding: z.string(),
    may_create: z.boolean(),
    synchronous_commit: z.string(),
    now_ms: z.number(),
  }),
]);
const readServer = `
  SELECT current_setting('server_version') AS version, pg_encoding_to_char(encoding) AS encoding,
    has_database_privilege(datname, 'CREATE') AND coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
    current_setting('synchronous_commit') AS synchronous_commit,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms
  FROM pg_database WHERE datname = current_database()`;
const names = z.array(z.object({ name: z.string() })).transform((rows) => rows.map(({ name }) => name));
const findUnavailableExtensions = `
  SELECT name FROM unnest($1::text[]) AS needed (name)
  WHERE name NOT IN (SELECT extname FROM pg_extension UNION SELECT name FROM pg_available_extensions)`;
const findMissingRoles = `
  SELECT name FROM unnest($1::text[]) AS needed (name)
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = needed.name AND ${mayAssumeRoleSql('oid')})`;

/** Examines the database of a service, with the connections of the service and of its programs. */
export async function examinePostgres(deployment: Deployment): Promise<Finding[]> {
  const { name, settings, migrations, forceGenericPlan } = deployment;
  const create = (target: { url: string; workload?: 'operator' }): DataSource => {
    const applicationName = `${name} doctor`;
    return createDataSource({ ...target, poolSize: 2, applicationName, migrations, forceGenericPlan });
  };
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl = url } = settings;
  // Two pools, as in a service: a connection pooler must not mix their named statements.
  const pools = [create({ url }), create({ url })] as const;
  // Operator commands and migrations connect like this.
  const program = create({ url: directUrl, workload: 'operator' });
  try {
    for (const pool of pools) await connectWhenUp(pool, { forceGenericPlan }, throwError);
    return [
      ...(await connectionFindings(() =>
        verifyNamedStatements(
          pools.map((pool) => new Database(pool)),
          throwError,
        ),
      )),
      ...(await connectionFindings(async () => {
        await connectProgram(program, { workload: 'operator' });
        await verifyOwnSession(program);
      })),
      ...(await serverFindings(pools[0], deployment)),
      ...(await migrationFindings(pools[0], deployment)),
    ];
  } catch (error) {
    if (error instanceof UnsuitableConnection) return [connectionFinding(error)];
    throw error;
  } finally {
    for (const pool of [...pools, program]) if (pool.isInitialized) await pool.destroy();
  }
}

async function serverFindings(pool: DataSource, { extensions, roles }: Deployment): Promise<Finding[]> {
  const sentMs = Date.now();
  const [row] = serverRows.parse(await pool.query(readServer));
  const nowMs = (sentMs + Date.now()) / 2;
  const unavailable = names.parse(await pool.query(findUnavailableExtensions, [extensions ?? []]));
  const missing = names.parse(await pool.query(findMissingRoles, [roles ?? []]));
  return [
    ...versionFindings('PostgreSQL', row.version, minVersion),
    ...clockFindings('PostgreSQL', { storeMs: row.now_ms, nowMs }),
    ...findingIf(
      row.encoding !== 'UTF8',
      `The database has the encoding ${row.encoding}.`,
      'Create it with ENCODING UTF8.',
    ),
    ...findingIf(
      !row.may_create,
      'The role may not create extensions and tables in its database, so migrations fail.',
      'Run ALTER DATABASE … OWNER TO the role of the service.',
    ),
    ...findingIf(
      ['off', 'local'].includes(row.synchronous_commit),
      `synchronous_commit is ${row.synchronous_commit}, so a crash may lose what was confirmed.`,
      'Set it to on for the role.',
    ),
    ...findingAbout(
      unavailable,
      (list) => `PostgreSQL does not offer the extensions that migrations create: ${list}.`,
      'Install the packages of the extensions, or allow them in the managed service.',
    ),
    ...findingAbout(
      missing,
      (list) => `The role of the service may not assume: ${list}.`,
      missing
        .map(
          (role) =>
            `Run GRANT ${role} TO the role of the service, after CREATE ROLE ${role} NOLOGIN if it is missing.`,
        )
        .join(' '),
    ),
  ];
}

async function migrationFindings(pool: DataSource, { name, migrations }: Deployment): Promise<Finding[]> {
  const applied = await appliedMigrations(pool);
  // TypeORM records the `name` of the instance, if it has one.
  const required = migrations.map((Migration) => new Migration().name ?? Migration.name);
  const pending = required.filter((migration) => !applied.includes(migration));
  return findingAbout(
    pending,
    (list) => `Migrations are missing: ${list}.`,
    `Run \`node dist/migrate.js\` of ${name}.`,
  );
}

async function appliedMigrations(pool: DataSource): Promise<readonly string[]> {
  try {
    return names.parse(await pool.query('SELECT name FROM schema_migrations'));
  } catch (error) {
    if (z.object({ code: z.literal(undefinedTable) }).safeParse(error).success) return [];
    throw error;
  }
}

async function connectionFindings(verify: () => Promise<void>): Promise<Finding[]> {
  try {
    await verify();
    return [];
  } catch (error) {
    if (error instanceof UnsuitableConnection) return [connectionFinding(error)];
    throw error;
  }
}

function connectionFinding({ message }: UnsuitableConnection): Finding {
  return { problem: 'The connection to PostgreSQL is unsuitable.', fix: message };
}

/** For `onFailure`: ends the retries, so that the doctor reports the first failure. */
function throwError(error: unknown): never {
  throw error;
}
