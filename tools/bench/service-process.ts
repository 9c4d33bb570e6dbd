import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';
import type { ServiceName } from '@fulfilment/contracts/permissions';
import { freePort } from '@fulfilment/testing/free-port';
import { tokenMaker, type TokenMaker } from '@fulfilment/testing/token-maker';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runOrThrow } from '../dev/run-program.ts';
import { mallocSettings, nodeArguments } from '../dev/services/services.ts';
import { root } from '../dev/settings.ts';
import { type BenchContext, unlimited } from './bench-context.ts';
import { figure, type Figure } from './figures.ts';
import { createEmptyDatabase } from './bench-database.ts';
import type { PausableServer } from './rounds.ts';
import { ServedProcess } from './served-process.ts';

type Environment = Readonly<Record<string, string>>;

/** Creates a database with the service's migrations. @returns its URL */
export async function createMigratedDatabase(
  context: BenchContext,
  service: ServiceName,
  name: string,
): Promise<string> {
  const databaseUrl = await createEmptyDatabase(context.stores.postgres, name);
  await runOrThrow(process.execPath, [join(root, 'apps', service, 'dist', 'migrate.js')], {
    cwd: root,
    env: { DATABASE_URL: databaseUrl, PATH: process.env.PATH },
  });
  return databaseUrl;
}

/** A compiled service as it is deployed, but with a separate database and without effective rate limits. */
export class ServiceProcess implements PausableServer {
  /** Name of its database, and namespace of its exchanges and queues. */
  readonly name: string;
  /** Origin of its first process. */
  readonly origin: string;
  readonly databaseUrl: string;
  private readonly service: ServiceName;
  private readonly tokens: TokenMaker;
  private readonly environment: Environment;
  /** The processes of the service, by their origins. */
  private readonly processes = new Map<string, ServedProcess>();

  static async create(
    context: BenchContext,
    service: ServiceName,
    name: string,
    settings: (origin: string) => Environment = () => ({}),
  ): Promise<ServiceProcess> {
    const databaseUrl = await createMigratedDatabase(context, service, name);
    const tokens = await tokenMaker();
    const origin = `http://127.0.0.1:${await freePort()}`;
    return new ServiceProcess(service, name, origin, tokens, {
      HOST: '127.0.0.1',
      DATABASE_URL: databaseUrl,
      REDIS_URL: context.stores.redis,
      RABBITMQ_URL: context.stores.rabbitmq,
      RABBITMQ_NAMESPACE: name,
      BASE_URL: tokens.baseUrl,
      AUTH_URL: tokens.authUrl,
      JWKS_URL: tokens.jwksUrl,
      CURSOR_SECRET: randomBytes(32).toString('hex'),
      QUOTE_SIGNING_KEY: randomBytes(32).toString('base64'),
      RATE_LIMIT_DEFAULT: unlimited,
      ...settings(origin),
    });
  }

  private constructor(
    service: ServiceName,
    name: string,
    origin: string,
    tokens: TokenMaker,
    environment: Environment & { readonly DATABASE_URL: string },
  ) {
    this.service = service;
    this.name = name;
    this.origin = origin;
    this.databaseUrl = environment.DATABASE_URL;
    this.tokens = tokens;
    this.environment = environment;
  }

  get origins(): string[] {
    return [...this.processes.keys()];
  }

  /**
   * Starts the first process. BENCH_NODE_ARGS adds arguments of Node: `--cpu-prof --cpu-prof-dir=profiles`.
   * @returns the seconds until it was ready, as a figure
   */
  async start(): Promise<Figure> {
    const extraArgs = (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter((argument) => argument !== '');
    return figure('time until ready', [await this.startAt(this.origin, extraArgs)], 's', { atMost: 3 });
  }

  /** Starts one more process of the same service, on the same stores. */
  async startReplica(): Promise<void> {
    await this.startAt(`http://127.0.0.1:${await freePort()}`);
  }

  /** Returns the seconds until the process is ready. */
  private async startAt(origin: string, extraArgs: readonly string[] = []): Promise<number> {
    const main = join(root, 'apps', this.service, 'dist', 'main.js');
    const environment = { ...mallocSettings, ...(await this.environmentAt(origin)) };
    const started = new ServedProcess([...nodeArguments, ...extraArgs, main], environment);
    this.processes.set(origin, started);
    return started.waitUntilReady(`${origin}/health/ready`);
  }

  private async environmentAt(origin: string): Promise<Environment> {
    return { ...this.environment, PORT: new URL(origin).port, INTERNAL_PORT: String(await freePort()) };
  }

  /** Processor time of all processes so far, in ms; undefined if the system does not report it. */
  cpuMs(): number | undefined {
    const times = [...this.processes.values()].map((server) => server.cpuMs() ?? Number.NaN);
    const sum = times.reduce((total, ms) => total + ms, 0);
    return Number.isNaN(sum) ? undefined : sum;
  }

  /** Pauses all processes. */
  pause(): void {
    for (const server of this.processes.values()) server.pause();
  }

  resume(): void {
    for (const server of this.processes.values()) server.resume();
  }

  /** Peak memory of the first process; empty if the system does not report it. */
  memory(): Figure[] {
    const memory = this.processes.get(this.origin)?.peakMemoryMb();
    return memory === undefined ? [] : [figure('peak memory', [memory], 'MB', { atMost: 250 })];
  }

  /** Returns an access token that is valid for an hour. */
  token(claims: Readonly<Record<string, string>>): Promise<string> {
    const exp = Math.floor(Date.now() / 1000) + accessTokenLifetimeSeconds;
    return this.tokens.token({ ...claims, exp });
  }

  /** Runs another program of the service, such as `cli.js`, and returns its output. */
  async run(file: string, args: readonly string[]): Promise<string> {
    return runOrThrow(process.execPath, [join(root, 'apps', this.service, 'dist', file), ...args], {
      cwd: root,
      env: { ...(await this.environmentAt(this.origin)), PATH: process.env.PATH },
    });
  }

  async stopProcesses(): Promise<void> {
    await Promise.all([...this.processes.values()].map((server) => server.stop()));
  }

  async stop(): Promise<void> {
    await this.stopProcesses();
    await this.tokens.stop();
  }
}
