import { existsSync, mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildAll } from './build.ts';
import { type Certificates, certificatesIn } from './certificates.ts';
import { createDatabases } from './databases.ts';
import { chooseDependencies, type Choice, describeSource } from './dependencies/choose.ts';
import type { Dependency, DependencyName, Site } from './dependencies/dependency.ts';
import { postgresAnswers, rabbitmqAnswers, redisAnswers } from './dependencies/readiness.ts';
import { Failure, reasonOf } from './failure.ts';
import { gatewayPlan } from './gateway/gateway.ts';
import { followFile, LogFiles } from './logs.ts';
import { isTaken, portsFrom, type Ports, serviceNames, withoutTakenPorts } from './ports.ts';
import { Progress, type Say } from './progress.ts';
import { mustRun, stopRunningPrograms } from './run-program.ts';
import { type Secrets, secretsIn } from './secrets.ts';
import { baseUrl, serviceEnvironment, servicePlan, type ServiceSite } from './services.ts';
import { root, type Settings } from './settings.ts';
import {
  type BareStack,
  removeStack,
  type Seeded,
  seededSchema,
  type Stack,
  writeStack,
} from './stack-file.ts';
import { serveControl } from './supervisor/control.ts';
import { type PartStatus, type Verb, verbs } from './supervisor/part.ts';
import { ProcessPart, type ProcessPlan } from './supervisor/process-part.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** Where an operator's commands go. */
export interface OperatorSite {
  readonly rabbitmq: string;
  readonly namespace: string;
  /** Where each service tells what became of a message. */
  readonly internal_urls: Readonly<Record<string, string>>;
  /** What each service's own programs are told. */
  readonly environments: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Terminal {
  /** Progress and notices. */
  readonly say: Say;
  /** A line of a service's log, in full; called only for what a person may want to read along. */
  readonly log: (name: string, line: string) => void;
}

/** One local suite: its dependencies, services and gateway, from nothing to `stack.json` and back. */
export class Suite {
  readonly settings: Settings;
  private readonly terminal: Terminal;
  private readonly progress: Progress;
  private readonly logs: LogFiles;
  private readonly supervisor: Supervisor;
  private readonly secrets: Secrets;
  private readonly controlServer: Server;
  private ports: Ports;
  private choosing: Promise<unknown> = Promise.resolve();
  private choice: Choice = { dependencies: [], gateway: 'program' };
  private stopFollowing: () => void = () => undefined;
  private ending: Promise<void> | undefined;
  private stack: Stack | undefined;
  private serviceSite: ServiceSite | undefined;

  /** Takes the state directory: only one suite at a time can have it. */
  static async open(settings: Settings, terminal: Terminal): Promise<Suite> {
    mkdirSync(settings.stateDir, { recursive: true });
    const opened: { suite?: Suite } = {};
    const server = await serveControl(settings.stateDir, (name, argument) => {
      if (opened.suite === undefined) throw new Failure('The suite is only just starting.');
      return opened.suite.command(name, argument);
    });
    opened.suite = new Suite(settings, terminal, server);
    return opened.suite;
  }

  private constructor(settings: Settings, terminal: Terminal, controlServer: Server) {
    this.settings = settings;
    this.terminal = terminal;
    this.controlServer = controlServer;
    this.progress = new Progress(terminal.say);
    this.logs = new LogFiles(settings.stateDir);
    this.supervisor = new Supervisor(settings.stateDir);
    this.secrets = secretsIn(settings.stateDir);
    this.ports = portsFrom(settings.basePort);
    removeStack(settings.stateDir);
  }

  get isStopping(): boolean {
    return this.ending !== undefined;
  }

  get isReady(): boolean {
    return this.stack !== undefined;
  }

  /** Since it was opened, for a person. */
  get elapsed(): string {
    return this.progress.elapsed;
  }

  /** Once the last answer over the control socket is out. */
  onceStopped(then: () => void): void {
    this.controlServer.once('close', then);
  }

  /** PostgreSQL, Redis and RabbitMQ, answering. */
  async startDependencies(wanted: { gateway: boolean }): Promise<void> {
    const leftovers = await this.supervisor.endLeftovers();
    if (leftovers.length > 0)
      this.terminal.say(`  An earlier suite was killed; ended what it left: ${leftovers.join(', ')}.`);
    if (wanted.gateway) await this.checkGatewayPort();
    this.ports = await withoutTakenPorts(this.ports);
    await this.progress.step('PostgreSQL, Redis and RabbitMQ', async (note) => {
      const choosing = chooseDependencies(this.site(note), wanted);
      this.choosing = choosing;
      this.choice = await choosing;
      this.checkNotStopping();
      const { dependencies } = this.choice;
      const plans = dependencies.flatMap(({ processes }) => processes);
      await this.startLayer(plans.filter(({ hidden }) => hidden));
      await Promise.all([
        this.startLayer(plans.filter(({ hidden }) => !hidden)),
        ...dependencies.filter(({ processes }) => processes.length === 0).map(answersNow),
      ]);
      this.checkNotStopping();
      note(dependencies.map(describeSource).join(' · '));
    });
  }

  /** Everything above the dependencies; returns when the suite is ready and `stack.json` is written. */
  async startAll(): Promise<Stack> {
    const [certificates] = await this.both(
      this.progress.step('Local certificate authority', () =>
        certificatesIn(this.settings.stateDir, this.settings.environment.NODE_EXTRA_CA_CERTS),
      ),
      this.progress.step('Build', buildAll),
    );
    const site: ServiceSite = {
      settings: this.settings,
      ports: this.ports,
      secrets: this.secrets,
      dependencyUrls: this.dependencyUrls(),
      trustFile: certificates.trustFile,
    };
    await this.step('Databases and migrations', () => this.migrate(site));
    await this.step('Services', () => this.startLayer(serviceNames.map((name) => servicePlan(name, site))));
    const bare = this.bareStack(certificates);
    this.serviceSite = site;
    const seeded = await this.step('Demo data', () => loadDemoData(bare, this.operatorSite()));
    await this.step('Gateway', () => this.startGateway(certificates));
    this.stack = { ...bare, ...seeded };
    writeStack(this.settings.stateDir, this.stack);
    return this.stack;
  }

  dependencyUrls(): Record<DependencyName, string> {
    const urlOf = (name: DependencyName): string =>
      this.choice.dependencies.find((dependency) => dependency.name === name)?.url ?? '';
    return { postgres: urlOf('postgres'), redis: urlOf('redis'), rabbitmq: urlOf('rabbitmq') };
  }

  /** Ends all it started, in reverse order. May be called at any time and more than once. */
  stop(): Promise<void> {
    this.ending ??= this.end();
    return this.ending;
  }

  private async end(): Promise<void> {
    removeStack(this.settings.stateDir);
    stopRunningPrograms();
    await this.choosing.catch(() => undefined); // it may be installing packages
    this.stopFollowing();
    await this.supervisor.stopAll((name, error) =>
      this.terminal.say(`${name} did not stop: ${reasonOf(error)}`),
    );
    await this.logs.close();
    this.controlServer.close();
  }

  private async command(name: string, argument: string): Promise<unknown> {
    const verb: Verb | undefined = verbs.find((candidate) => candidate === name);
    if (verb !== undefined && argument !== '') return this.supervisor.act(verb, argument);
    switch (name) {
      case 'ping':
        return { ready: this.stack !== undefined, base_port: this.settings.basePort };
      case 'site':
        return this.operatorSite();
      case 'status':
        return this.status();
      case 'end':
        return this.stop();
      default:
        throw new Failure(`The suite has no command "${name}".`);
    }
  }

  /** What the operator's commands and the demo data reach. */
  private operatorSite(): OperatorSite {
    const site = this.serviceSite;
    if (site === undefined) throw new Failure('The suite is still starting.');
    return {
      rabbitmq: site.dependencyUrls.rabbitmq,
      namespace: this.settings.environment.RABBITMQ_NAMESPACE ?? 'suite',
      internal_urls: Object.fromEntries(
        serviceNames.map((name) => [name, `http://127.0.0.1:${this.ports.internal[name]}`]),
      ),
      environments: Object.fromEntries(serviceNames.map((name) => [name, serviceEnvironment(name, site)])),
    };
  }

  private status(): PartStatus[] {
    const given = this.choice.dependencies.filter(({ processes }) => processes.length === 0);
    return [
      ...given.map(({ name }): PartStatus => ({
        name,
        kind: 'dependency',
        state: 'given',
        pid: null,
        uptime_seconds: null,
        restarts: 0,
      })),
      ...this.supervisor.status(),
    ];
  }

  private async step<T>(title: string, work: (note: Say) => Promise<T>): Promise<T> {
    this.checkNotStopping();
    const result = await this.progress.step(title, work);
    this.checkNotStopping();
    return result;
  }

  /** Two steps side by side; the first failure counts. */
  private async both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
    const results = await Promise.all([one, other]);
    this.checkNotStopping();
    return results;
  }

  private checkNotStopping(): void {
    if (this.isStopping) throw new Failure('Stopped before the suite was ready.');
  }

  private startLayer(plans: readonly ProcessPlan[]): Promise<void> {
    const parts = plans.map(
      (plan) =>
        new ProcessPart(plan, {
          line: (name, line) => {
            this.logs.write(name, line);
            if (plan.kind === 'service') this.terminal.log(name, line);
          },
          notice: (name, text) => this.terminal.say(`${name} ${text}`),
          changed: () => {
            if (!this.isStopping) this.supervisor.rememberProcesses();
          },
        }),
    );
    return this.supervisor.startLayer(parts);
  }

  private async checkGatewayPort(): Promise<void> {
    const { gateway } = this.ports;
    if (!(await isTaken(gateway))) return;
    throw new Failure(
      `Port ${gateway}, the gateway's, is taken by another program. Stop that program, or give the suite other ports: SUITE_BASE_PORT=${gateway + 1000} npm start`,
    );
  }

  private async migrate(site: ServiceSite): Promise<void> {
    await createDatabases(site.dependencyUrls.postgres, this.settings, this.secrets);
    await Promise.all(
      serviceNames.map((name) =>
        mustRun(process.execPath, [join(root, 'apps', name, 'dist', 'migrate.js')], {
          cwd: root,
          env: serviceEnvironment(name, site),
        }),
      ),
    );
  }

  private async startGateway(certificates: Certificates): Promise<void> {
    const accessLog = this.logs.file('gateway-access');
    const { stop } = followFile(accessLog, (line) => this.terminal.log('gateway', line));
    this.stopFollowing = stop;
    const plan = await gatewayPlan(
      this.site(this.terminal.say),
      certificates,
      accessLog,
      this.choice.gateway,
    );
    await this.startLayer([plan]);
  }

  private site(note: Say): Site {
    return { settings: this.settings, ports: this.ports, secrets: this.secrets, note };
  }

  private bareStack({ caFile }: Certificates): BareStack {
    const at = (port: number): string => `http://127.0.0.1:${port}`;
    return {
      base_url: baseUrl(this.ports),
      auth_url: baseUrl(this.ports),
      ca_file: caFile,
      services: Object.fromEntries(
        serviceNames.map((name) => {
          const internal = at(this.ports.internal[name]);
          return [
            name,
            {
              url: at(this.ports.services[name]),
              metrics_url: `${internal}/metrics`,
              internal_url: internal,
            },
          ];
        }),
      ),
      dependencies: this.dependencyUrls(),
    };
  }
}

async function answersNow({ name, url }: Dependency): Promise<void> {
  const check = { postgres: postgresAnswers, redis: redisAnswers, rabbitmq: rabbitmqAnswers }[name];
  const reason = await check(url).then((ok) => (ok ? undefined : 'it does not answer'), reasonOf);
  if (reason !== undefined)
    throw new Failure(`The ${name} given in ${name.toUpperCase()}_URL cannot be used: ${reason}`);
}

/** Loading again what is there changes nothing. */
async function loadDemoData(stack: BareStack, site: OperatorSite): Promise<Seeded> {
  const script = join(root, 'tools', 'demo', 'seed.ts');
  if (!existsSync(script)) throw new Failure(`${script} is missing.`);
  const module: unknown = await import(pathToFileURL(script).href);
  const seed: unknown =
    typeof module === 'object' && module !== null ? Reflect.get(module, 'seed') : undefined;
  if (!isSeed(seed)) throw new Failure(`${script} exports no seed().`);
  return seededSchema.parse(await seed(stack, site));
}

function isSeed(value: unknown): value is (stack: BareStack, site: OperatorSite) => Promise<unknown> {
  return typeof value === 'function';
}
