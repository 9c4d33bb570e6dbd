import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { type Certificates, certificatesIn } from '@fulfilment/testing/certificates';
import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { buildAll, buildSite } from './build.ts';
import { createDatabases } from './services/databases.ts';
import {
  chooseDependencies,
  type Choice,
  describeSource,
  type RequiredPrograms,
} from './dependencies/choose.ts';
import type { DependencyName, DependencyContext } from './dependencies/dependency.ts';
import { checkExternal, externalStatus, isExternal } from './dependencies/external.ts';
import { Failure, reasonOf } from './failure.ts';
import { checkGatewayPort, prepareGateway } from './gateway/gateway.ts';
import { followFile, LogFiles } from './output/logs.ts';
import { bareStack, operatorAccess } from './services/addresses.ts';
import { portsFrom, type Ports, withFreeDependencyPorts, withFreeServicePorts } from './ports.ts';
import { Progress, type PrintLine } from './output/progress.ts';
import { stopRunningPrograms } from './run-program.ts';
import { type Secrets, readOrCreateSecrets } from './state/secrets.ts';
import { migrateService, servicePlan, type ServiceContext } from './services/services.ts';
import type { Settings } from './settings.ts';
import { removeStack, type Stack, writeStack } from './state/stack-file.ts';
import { watchForRemoval } from './state/state-dir.ts';
import { notReady, serveControl } from './supervisor/control.ts';
import { type PartStatus, type Verb, verbs } from './supervisor/part.ts';
import { killLeftovers, Supervisor } from './supervisor/supervisor.ts';

interface Terminal {
  /** Progress and notices. */
  readonly say: PrintLine;
  /** Called with each log line of the services and the gateway. */
  readonly log: (name: string, line: string) => void;
}

/** A local suite: starts and stops its dependencies, services and gateway. */
export class Suite {
  readonly settings: Settings;
  private readonly codeDirs = new Map<ServiceName, string>();
  private readonly terminal: Terminal;
  private readonly progress: Progress;
  private readonly logs: LogFiles;
  private readonly supervisor: Supervisor;
  private readonly secrets: Secrets;
  private readonly controlServer: Server;
  private readonly removalWatch: { stop: () => void };
  private onStopped: () => void = () => undefined; // set by `onceStopped`
  private ports: Ports;
  private choosing: Promise<unknown> = Promise.resolve(); // until `choice` is set; may install packages
  private choice: Choice = { dependencies: [], gateway: 'program' };
  private stopFollowing: () => void = () => undefined; // of the gateway's access log
  private ending: Promise<void> | undefined; // since `stop` was called
  private stack: Stack | undefined; // once everything is ready
  private serviceContext: ServiceContext | undefined; // once the services are ready

  /** Opens a suite, which locks its state directory. */
  static async open(settings: Settings, terminal: Terminal): Promise<Suite> {
    mkdirSync(settings.stateDir, { recursive: true });
    const opened: { suite?: Suite } = {};
    const server = await serveControl(settings.stateDir, (name, argument) => {
      if (opened.suite === undefined) throw notReady;
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
    this.supervisor = new Supervisor(settings.stateDir, {
      line: ({ name, kind }, line) => {
        this.logs.write(name, line);
        if (kind === 'service') terminal.log(name, line);
      },
      notice: (name, text) => terminal.say(`${name} ${text}`),
    });
    this.secrets = readOrCreateSecrets(settings.stateDir);
    this.ports = portsFrom(settings.basePort);
    removeStack(settings.stateDir);
    this.removalWatch = watchForRemoval(settings.stateDir, () => {
      terminal.say(`\n${settings.stateDir} was deleted, so the suite cannot continue. Stopping …`);
      controlServer.close(); // immediately: a new suite may open its socket at the same path
      void this.stop();
    });
  }

  get isStopping(): boolean {
    return this.ending !== undefined;
  }

  /** Time since it was opened, as text. */
  get elapsed(): string {
    return this.progress.elapsed;
  }

  /** Calls back when the suite is stopped and the last response over the control socket was sent. */
  onceStopped(callback: () => void): void {
    this.onStopped = callback;
  }

  /** Starts PostgreSQL, Redis and RabbitMQ, and waits until they respond. */
  async startDependencies(required: RequiredPrograms): Promise<void> {
    const leftovers = await killLeftovers(this.settings.stateDir);
    if (leftovers.length > 0)
      this.terminal.say(
        `  An earlier suite was killed; stopped its remaining processes: ${leftovers.join(', ')}.`,
      );
    if (required.gateway) await checkGatewayPort(this.ports.gateway, this.settings);
    this.ports = await withFreeDependencyPorts(this.ports);
    await this.progress.step('PostgreSQL, Redis and RabbitMQ', async (note) => {
      const choosing = chooseDependencies(this.dependencyContext(note), required);
      this.choosing = choosing;
      this.choice = await choosing;
      this.checkNotStopping();
      const { dependencies } = this.choice;
      const plans = dependencies.flatMap(({ processes }) => processes);
      await this.supervisor.startLayer(plans.filter(({ hidden }) => hidden));
      await Promise.all([
        this.supervisor.startLayer(plans.filter(({ hidden }) => !hidden)),
        ...dependencies.filter(isExternal).map(checkExternal),
      ]);
      this.checkNotStopping();
      note(dependencies.map(describeSource).join(' · '));
      for (const { name } of dependencies.filter(isExternal)) {
        if (name === 'postgres') continue;
        this.terminal.say(
          `  All services share one user of the external ${name}, so each service can access the data of the others.`,
        );
      }
    });
  }

  /** Starts services, gateway and demo data; resolves when `stack.json` is written. */
  async startAll(): Promise<Stack> {
    const [certificates] = await Promise.all([
      this.progress.step('Local certificate authority', () =>
        certificatesIn(this.settings.stateDir, this.settings.environment.NODE_EXTRA_CA_CERTS),
      ),
      this.progress.step('Build', buildAll),
    ]);
    this.checkNotStopping();
    const siteBuilt = this.progress
      .step('Documentation site', buildSite)
      .catch((error: unknown) => this.terminal.say(`There is no documentation at /docs: ${reasonOf(error)}`));
    this.ports = await withFreeServicePorts(this.ports);
    const context: ServiceContext = {
      settings: this.settings,
      ports: this.ports,
      secrets: this.secrets,
      dependencyUrls: this.dependencyUrls(),
      trustFile: certificates.trustFile,
      codeDirs: this.codeDirs,
    };
    await this.step('Databases and migrations', async () => {
      await createDatabases(context.dependencyUrls.postgres, this.settings, this.secrets);
      await Promise.all(serviceNames.map((name) => migrateService(name, context)));
    });
    await this.step('Services', () =>
      this.supervisor.startLayer(serviceNames.map((name) => servicePlan(name, context))),
    );
    this.serviceContext = context;
    const bare = bareStack(context, certificates.caFile);
    const seeded = await this.step('Demo data', async () => {
      const { seed } = await import('../demo/seed.ts'); // imported late, since it needs the compiled code
      return seed(operatorAccess(context));
    });
    await this.step('Gateway', () => this.startGateway(certificates));
    await siteBuilt;
    this.stack = { ...bare, ...seeded };
    writeStack(this.settings.stateDir, this.stack);
    return this.stack;
  }

  /** Makes the service run the compiled code in another directory from its next start. */
  useCode(name: ServiceName, dir: string): void {
    this.codeDirs.set(name, dir);
  }

  /** Runs the migrations of a service that are in a directory of compiled code. */
  async migrate(name: ServiceName, dir: string): Promise<void> {
    if (this.serviceContext === undefined) throw new Failure('The suite is not started.');
    await migrateService(name, { ...this.serviceContext, codeDirs: new Map([[name, dir]]) });
  }

  async restart(name: ServiceName): Promise<void> {
    await this.supervisor.run('restart', name);
  }

  dependencyUrls(): Record<DependencyName, string> {
    const urlOf = (name: DependencyName): string =>
      this.choice.dependencies.find((dependency) => dependency.name === name)?.url ?? '';
    return { postgres: urlOf('postgres'), redis: urlOf('redis'), rabbitmq: urlOf('rabbitmq') };
  }

  status(): PartStatus[] {
    return [...this.choice.dependencies.filter(isExternal).map(externalStatus), ...this.supervisor.status()];
  }

  /** Stops everything in reverse order. May be called at any time and repeatedly. */
  stop(): Promise<void> {
    this.ending ??= this.end();
    return this.ending;
  }

  private async end(): Promise<void> {
    this.removalWatch.stop();
    removeStack(this.settings.stateDir);
    const programsStopped = stopRunningPrograms();
    await this.choosing.catch(() => undefined); // a package installation must not be interrupted
    this.stopFollowing();
    await this.supervisor.stopAll((name, error) =>
      this.terminal.say(`${name} did not stop: ${reasonOf(error)}`),
    );
    await programsStopped;
    await this.logs.close();
    this.controlServer.close(() => this.onStopped());
  }

  private async command(name: string, argument: string): Promise<unknown> {
    const verb: Verb | undefined = verbs.find((candidate) => candidate === name);
    if (verb !== undefined && argument !== '') {
      if (
        this.choice.dependencies.some((dependency) => dependency.name === argument && isExternal(dependency))
      ) {
        throw new Failure(`Cannot ${verb} ${argument}, because it is external.`);
      }
      return this.supervisor.run(verb, argument);
    }
    switch (name) {
      case 'ping':
        return { ready: this.stack !== undefined, base_port: this.settings.basePort };
      case 'operator-access':
        if (this.serviceContext === undefined) throw notReady;
        return operatorAccess(this.serviceContext);
      case 'status':
        return this.status();
      case 'end':
        return this.stop();
      default:
        throw new Failure(`The suite has no command "${name}".`);
    }
  }

  private async step<T>(title: string, work: (note: PrintLine) => Promise<T>): Promise<T> {
    this.checkNotStopping();
    const result = await this.progress.step(title, work);
    this.checkNotStopping();
    return result;
  }

  private checkNotStopping(): void {
    if (this.isStopping) throw new Failure('Stopped before the suite was ready.');
  }

  private async startGateway(certificates: Certificates): Promise<void> {
    const accessLog = this.logs.file('gateway-access');
    const { stop } = followFile(accessLog, (line) => this.terminal.log('gateway', line));
    this.stopFollowing = stop;
    const plan = await prepareGateway(
      this.dependencyContext(this.terminal.say),
      certificates,
      accessLog,
      this.choice.gateway,
    );
    await this.supervisor.start(plan);
  }

  private dependencyContext(note: PrintLine): DependencyContext {
    return { settings: this.settings, ports: this.ports, secrets: this.secrets, note };
  }
}
