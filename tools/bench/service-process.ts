import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';
import { freePort } from '@fulfilment/testing/free-port';
import { tokenMaker, type TokenMaker } from '@fulfilment/testing/token-maker';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ServiceName } from '../dev/ports.ts';
import { mustRun } from '../dev/run-program.ts';
import { mallocSettings, nodeArguments } from '../dev/services/services.ts';
import { root } from '../dev/settings.ts';
import { type BenchContext, unlimited } from './bench-context.ts';
import { figure, type Figure } from './figures.ts';
import { createEmptyDatabase } from './bench-database.ts';
import { ServedProcess } from './served-process.ts';

type Environment = Readonly<Record<string, string>>;

/** Creates a database with the service's migrations. @returns its URL */
export async function createMigratedDatabase(
  context: BenchContext,
  service: ServiceName,
  name: string,
): Promise<string> {
  const databaseUrl = await createEmptyDatabase(context.stores.postgres, name);
  await mustRun(process.execPath, [join(root, 'apps', service, 'dist', 'migrate.js')], {
    cwd: root,
    env: { DATABASE_URL: databaseUrl, PATH: process.env.PATH },
  });
  return databaseUrl;
}

/** A compiled service as it is deployed, with a database of its own and without effective rate limits. */
export class ServiceProcess {
  /** Name of its database, and namespace of its exchanges and queues. */
  readonly name: string;
  readonly origin: string;
  readonly environment: Environment;
  private readonly service: ServiceName;
  private readonly tokens: TokenMaker;
  private served: ServedProcess | undefined;
  private readonly replicas: { readonly origin: string; readonly process: ServedProcess }[] = [];

  static async create(
    context: BenchContext,
    service: ServiceName,
    name: string,
    settings: (origin: string) => Environment,
  ): Promise<ServiceProcess> {
    const databaseUrl = await createMigratedDatabase(context, service, name);
    const tokens = await tokenMaker();
    const origin = `http://127.0.0.1:${await freePort()}`;
    return new ServiceProcess(service, name, origin, tokens, {
      HOST: '127.0.0.1',
      PORT: new URL(origin).port,
      INTERNAL_PORT: String(await freePort()),
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
    environment: Environment,
  ) {
    this.service = service;
    this.name = name;
    this.origin = origin;
    this.tokens = tokens;
    this.environment = environment;
  }

  get databaseUrl(): string {
    return this.environment['DATABASE_URL'] ?? '';
  }

  get process(): ServedProcess {
    if (this.served === undefined) throw new Error(`${this.service} is not started.`);
    return this.served;
  }

  /**
   * Starts the process. BENCH_NODE_ARGS adds Node arguments, such as `--cpu-prof --cpu-prof-dir=profiles`.
   * @returns the seconds until it was ready, as a figure
   */
  async start(): Promise<Figure> {
    const extraArgs = (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter((argument) => argument !== '');
    this.served = this.spawn(this.environment, extraArgs);
    const readyS = await this.served.ready(`${this.origin}/health/ready`);
    return figure('time until ready', [readyS], 's', { atMost: 3 });
  }

  /** Origins of all its processes. */
  get origins(): string[] {
    return [this.origin, ...this.replicas.map(({ origin }) => origin)];
  }

  get processes(): ServedProcess[] {
    return [this.process, ...this.replicas.map(({ process }) => process)];
  }

  /** CPU time of all processes so far, in ms; undefined if the system does not report it. */
  cpuMs(): number | undefined {
    const times = this.processes.map((process) => process.cpuMs() ?? Number.NaN);
    const sum = times.reduce((total, ms) => total + ms, 0);
    return Number.isNaN(sum) ? undefined : sum;
  }

  /** Pauses all processes; requests wait until `resume`. */
  pause(): void {
    for (const process of this.processes) process.pause();
  }

  resume(): void {
    for (const process of this.processes) process.resume();
  }

  /** Starts one more process of the same service, on the same stores. */
  async startReplica(): Promise<ServedProcess> {
    const port = await freePort();
    const internalPort = await freePort();
    const replica = this.spawn({
      ...this.environment,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
    });
    const origin = `http://127.0.0.1:${port}`;
    this.replicas.push({ origin, process: replica });
    await replica.ready(`${origin}/health/ready`);
    return replica;
  }

  private spawn(environment: Environment, extraArgs: readonly string[] = []): ServedProcess {
    const main = join(root, 'apps', this.service, 'dist', 'main.js');
    return new ServedProcess([...nodeArguments, ...extraArgs, main], { ...mallocSettings, ...environment });
  }

  /** Peak memory of the first process; empty if the system does not report it. */
  memory(): Figure[] {
    const memory = this.process.peakMemoryMb();
    return memory === undefined ? [] : [figure('peak memory', [memory], 'MB', { atMost: 250 })];
  }

  /** Returns an access token that is valid for longer than the measurement. */
  token(claims: Readonly<Record<string, string>>): Promise<string> {
    const exp = Math.floor(Date.now() / 1000) + accessTokenLifetimeSeconds;
    return this.tokens.token({ ...claims, exp });
  }

  /** Runs another program of the service, such as `cli.js`, and returns its output. */
  run(file: string, args: readonly string[]): Promise<string> {
    return mustRun(process.execPath, [join(root, 'apps', this.service, 'dist', file), ...args], {
      cwd: root,
      env: { ...this.environment, PATH: process.env.PATH },
    });
  }

  async stopProcess(): Promise<void> {
    await this.served?.stop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map(({ process }) => process.stop()));
    await this.stopProcess();
    await this.tokens.stop();
  }
}
