import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresPrograms, serverUser } from '../../dev/dependencies/postgres.ts';
import { postgresResponds } from '../../dev/dependencies/readiness.ts';
import { Failure } from '../../dev/failure.ts';
import { runOrThrow, type UserIds } from '../../dev/run-program.ts';
import type { ProcessPart, ProcessPlan } from '../../dev/supervisor/process-part.ts';
import { eventually } from '../../dev/eventually.ts';
import { type ChaosContext, postgresPortOf } from './context.ts';
import { runSql } from '../../dev/run-sql.ts';
import type { Supervisor } from '../../dev/supervisor/supervisor.ts';
import { StableAddress } from './stable-address.ts';

const replicationTimeoutMs = 60_000;
/** Time without replication before an asynchronous standby is promoted. The commits of this time are lost. */
const replicationLagMs = 1_000;

/** The file with the settings of one server. In a copy of another server's data, it is replaced. */
const ownSettings = 'own.conf';

interface Server {
  readonly number: number;
  readonly port: number;
  readonly data: string;
  part: ProcessPart | undefined;
}

export interface PostgresOptions {
  /** Whether a commit waits for the standby. */
  readonly isSynchronous: boolean;
  /** Additional settings of the primary, for example those of an archive. */
  readonly configuration?: (home: string) => string;
}

interface PairEnvironment {
  readonly context: ChaosContext;
  readonly supervisor: Supervisor;
  /** Folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly user: UserIds | undefined;
  readonly home: string;
  readonly options: PostgresOptions;
}

/** The folder of a server: 1 is the first primary, 2 its standby, 3 a server restored from a backup. */
export function dataFolder(home: string, number: number): string {
  return join(home, `server-${number}`);
}

function newServer({ context, home }: PairEnvironment, number: number): Server {
  return {
    number,
    port: context.ports.postgresServers[number - 1] ?? 0,
    data: dataFolder(home, number),
    part: undefined,
  };
}

/** A primary and a streaming standby, behind one stable address for each service. */
export class PostgresPair {
  private readonly environment: PairEnvironment;
  /** Folder with the data of all servers. */
  readonly home: string;
  /** Stable addresses of the primary: one for each service, and one for administrators. */
  private readonly addresses = new Map<ServiceName | 'administrator', StableAddress>();
  /** The link over which the standby follows the primary. */
  private readonly replication: StableAddress;
  private primary: Server;
  private standby: Server;

  /** Creates the folder of the servers, which `stop` deletes. */
  static async create(
    context: ChaosContext,
    supervisor: Supervisor,
    options: PostgresOptions,
  ): Promise<PostgresPair> {
    const programs = postgresPrograms();
    if (programs === undefined)
      throw new Failure('PostgreSQL is not installed on this machine: apt-get install postgresql');
    const user = await serverUser();
    const home = mkdtempSync('/var/tmp/fulfilment-chaos-');
    if (user !== undefined) chownSync(home, user.uid, user.gid);
    return new PostgresPair({ context, supervisor, programs, user, home, options });
  }

  private constructor(environment: PairEnvironment) {
    this.environment = environment;
    this.home = environment.home;
    this.primary = newServer(environment, 1);
    this.standby = newServer(environment, 2);
    this.replication = new StableAddress(this.primary.port);
  }

  async start(): Promise<void> {
    const { primary } = this;
    const { context } = this.environment;
    const password = join(this.home, 'password');
    this.writeAsServerUser(password, context.secrets.postgresPassword);
    const authentication = ['-U', 'suite', '-A', 'scram-sha-256', `--pwfile=${password}`];
    const locale = ['-E', 'UTF8', '--locale=C.UTF-8'];
    await this.run('initdb', ['-D', primary.data, ...authentication, ...locale, '--no-sync']);
    this.writeConfig(primary, ownSettings, '');
    this.writeConfig(
      primary,
      'postgresql.conf',
      `listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
shared_buffers = 128MB
max_wal_size = 1GB
max_wal_senders = 5
wal_keep_size = 256MB
hot_standby = on
log_min_messages = warning
timezone = UTC
${this.environment.options.configuration?.(this.home) ?? ''}include_if_exists = '${ownSettings}'
`,
    );
    this.writeConfig(
      primary,
      'pg_hba.conf',
      'host all all 127.0.0.1/32 scram-sha-256\nhost replication suite 127.0.0.1/32 scram-sha-256\n',
    );
    primary.part = await this.environment.supervisor.start(this.plan(primary));
    await this.replication.listen(context.ports.postgresReplication);
    await this.rebuildStandby();
    await this.openAddress('administrator', context.ports.postgresPorts[0] ?? 0);
    for (const service of serviceNames) await this.openAddress(service, postgresPortOf(service, context));
  }

  /** Kills the primary and promotes the standby, to which the addresses then lead. */
  async failOver(): Promise<void> {
    if (!this.environment.options.isSynchronous) {
      this.replication.cut();
      await sleep(replicationLagMs);
    }
    for (const address of this.addresses.values()) address.redirectTo(undefined);
    await this.primary.part?.stop();
    await runSql(this.urlOf(this.standby), 'SELECT pg_promote()');
    [this.primary, this.standby] = [this.standby, this.primary];
    this.replication.restore();
    for (const address of [...this.addresses.values(), this.replication])
      address.redirectTo(this.primary.port);
  }

  /** Re-creates the standby from a copy of the primary's data. */
  async rebuildStandby(): Promise<void> {
    const { standby, primary } = this;
    const replicationUrl = this.urlOf({ port: this.environment.context.ports.postgresReplication });
    rmSync(standby.data, { recursive: true, force: true });
    const options = ['-R', '-c', 'fast', '--no-sync']; // -R makes the copy a standby
    await this.run('pg_basebackup', ['-D', standby.data, '-d', replicationUrl, ...options]);
    this.writeConfig(standby, ownSettings, '');
    if (standby.part === undefined)
      standby.part = await this.environment.supervisor.start(this.plan(standby));
    else await standby.part.start();
    if (!this.environment.options.isSynchronous) return;
    this.writeConfig(primary, ownSettings, "synchronous_standby_names = '*'\n");
    await runSql(this.urlOf(primary), 'SELECT pg_reload_conf()');
    const synchronousStandbys = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    await eventually(
      async () => (await runSql(this.urlOf(primary), synchronousStandbys)).length > 0,
      replicationTimeoutMs,
      'the standby is synchronous',
    );
  }

  get primaryUrl(): string {
    return this.urlOf(this.primary);
  }

  /** Starts another server with existing data. Returns its URL. */
  async startServer(number: number, data: string, configuration: string): Promise<string> {
    const server: Server = { ...newServer(this.environment, number), data };
    this.writeConfig(server, ownSettings, configuration);
    await this.environment.supervisor.start(this.plan(server));
    return this.urlOf(server);
  }

  /** The stable address by which a service reaches its database. */
  addressOf(service: ServiceName): StableAddress {
    const address = this.addresses.get(service);
    if (address === undefined) throw new Failure(`${service} has no database.`);
    return address;
  }

  async stop(): Promise<void> {
    for (const address of [...this.addresses.values(), this.replication]) await address.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  private async openAddress(client: ServiceName | 'administrator', port: number): Promise<void> {
    const address = new StableAddress(this.primary.port);
    await address.listen(port);
    this.addresses.set(client, address);
  }

  private plan(server: Server): ProcessPlan {
    return {
      name: `postgres-${server.number}`,
      kind: 'dependency',
      program: join(this.environment.programs, 'postgres'),
      args: ['-D', server.data, '-c', `port=${server.port}`],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      user: this.environment.user,
      stopSignal: 'SIGKILL', // a stop is a failure of the server
      ready: () => postgresResponds(this.urlOf(server)),
    };
  }

  private urlOf({ port }: Pick<Server, 'port'>): string {
    return `postgres://suite:${this.environment.context.secrets.postgresPassword}@127.0.0.1:${port}/postgres`;
  }

  /** Runs a program of PostgreSQL, or any other by its absolute path, as the user of the server. */
  async run(program: string, args: readonly string[]): Promise<void> {
    await runOrThrow(resolve(this.environment.programs, program), args, {
      user: this.environment.user,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    });
  }

  private writeConfig({ data }: Server, name: string, text: string): void {
    mkdirSync(data, { recursive: true });
    this.writeAsServerUser(join(data, name), text);
  }

  private writeAsServerUser(file: string, text: string): void {
    writeFileSync(file, text, { mode: 0o600 });
    if (this.environment.user !== undefined)
      chownSync(file, this.environment.user.uid, this.environment.user.gid);
  }
}
