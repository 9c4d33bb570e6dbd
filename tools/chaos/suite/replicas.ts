import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import type { Certificates } from '@fulfilment/testing/certificates';
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayStatus, localLimits } from '../../dev/gateway/gateway.ts';
import { isReady, servicePlan } from '../../dev/services/services.ts';
import { root } from '../../dev/settings.ts';
import type { ProcessPart, ProcessPlan } from '../../dev/supervisor/process-part.ts';
import type { Supervisor } from '../../dev/supervisor/supervisor.ts';
import { type ChaosContext, replicaEnvironment, type ReplicaNumber, replicaNumbers } from './context.ts';

const resolveSeconds = 1;
/** Longer than the gateway uses the address of a replaced replica, like `preStop` in deploy/kubernetes. */
const preStopMs = 4_000;

interface Replica {
  readonly part: ProcessPart;
  readonly address: string;
}

/** Two replicas of each service, and the gateway, which finds them by name. */
export class Replicas {
  private readonly context: ChaosContext;
  private readonly supervisor: Supervisor;
  private readonly directory: string;
  private readonly replicas = new Map<string, Replica>();
  private addressCount = 0;

  constructor(context: ChaosContext, supervisor: Supervisor) {
    this.context = context;
    this.supervisor = supervisor;
    this.directory = join(context.settings.stateDir, 'gateway');
    mkdirSync(this.directory, { recursive: true });
    this.writeHostsFile();
  }

  async startServices(): Promise<void> {
    await Promise.all(
      serviceNames.flatMap((service) => replicaNumbers.map((replica) => this.start(service, replica))),
    );
  }

  /** Starts deploy/gateway/start.sh, with a fake `getent` that resolves names without a name server. */
  async startGateway(certificates: Certificates, accessLog: string): Promise<void> {
    const { ports } = this.context;
    const resolver = join(this.directory, 'getent');
    writeFileSync(resolver, `#!/bin/sh\nsed -n "s/^$2 \\(.*\\)/\\1 STREAM/p" '${this.directory}/names'\n`);
    chmodSync(resolver, 0o755);
    await this.supervisor.start({
      name: 'gateway',
      kind: 'service',
      program: 'sh',
      args: [join(root, 'deploy', 'gateway', 'start.sh')],
      cwd: this.directory,
      env: {
        PATH: `${this.directory}:${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/bin`,
        GATEWAY_TEMPLATE: join(root, 'deploy', 'gateway', 'nginx.conf.template'),
        GATEWAY_RUN_DIR: this.directory,
        GATEWAY_ACCESS_LOG: accessLog,
        GATEWAY_LISTEN_LINES: `listen 127.0.0.1:${ports.gateway} ssl;`,
        GATEWAY_CERTIFICATE: certificates.certificateFile,
        GATEWAY_CERTIFICATE_KEY: certificates.keyFile,
        GATEWAY_RESOLVE_SECONDS: String(resolveSeconds),
        GATEWAY_PUBLIC_HOST: `localhost:${ports.gateway}`,
        GATEWAY_HSTS_SECONDS: '0',
        ...localLimits,
        STORE_API_ADDRESS: `store-api:${ports.services['store-api']}`,
        CREATOR_API_ADDRESS: `creator-api:${ports.services['creator-api']}`,
        AUTH_SERVER_ADDRESS: `auth-server:${ports.services['auth-server']}`,
        WEBHOOK_WORKER_ADDRESS: `webhook-worker:${ports.services['webhook-worker']}`,
      },
      stopSignal: 'SIGQUIT',
      stopTimeoutMs: 5_000,
      ready: async () => (await gatewayStatus(ports.gateway, '/store/health/ready', certificates)) === 200,
    });
  }

  /** Kills a replica; its supervisor restarts it. */
  kill(service: ServiceName, replica: ReplicaNumber): Promise<void> {
    return this.find(service, replica).part.kill();
  }

  async freeze(service: ServiceName, replica: ReplicaNumber, forMs: number): Promise<void> {
    const { part } = this.find(service, replica);
    await part.pause();
    await sleep(forMs);
    await part.resume();
  }

  /** Replaces a replica as a rolling update does: the new one, with another address, is ready first. */
  async roll(service: ServiceName, replica: ReplicaNumber): Promise<void> {
    const { part: old } = this.find(service, replica);
    await this.start(service, replica); // from now on, the name resolves to the new one
    await sleep(preStopMs);
    await old.stop();
  }

  /** Stops every replica of a service. Its name still resolves to them, unlike after scaling to zero. */
  async stopService(service: ServiceName): Promise<void> {
    await Promise.all(replicaNumbers.map((replica) => this.find(service, replica).part.stop()));
  }

  async startService(service: ServiceName): Promise<void> {
    await Promise.all(replicaNumbers.map((replica) => this.find(service, replica).part.start()));
  }

  private find(service: ServiceName, replica: ReplicaNumber): Replica {
    const found = this.replicas.get(`${service}-${replica}`);
    if (found === undefined) throw new Error(`${service}-${replica} was not started.`);
    return found;
  }

  private async start(service: ServiceName, replica: ReplicaNumber): Promise<void> {
    this.addressCount += 1;
    const address = `127.0.1.${this.addressCount}`;
    // Operator commands, which prepare a run, expect the internal port of a service at one address.
    const isFirst = replica === 1 && !this.replicas.has(`${service}-${replica}`);
    const part = await this.supervisor.start(this.plan(service, replica, { address, isFirst }));
    this.replicas.set(`${service}-${replica}`, { part, address });
    this.writeHostsFile();
  }

  private plan(
    service: ServiceName,
    replica: ReplicaNumber,
    { address, isFirst }: { readonly address: string; readonly isFirst: boolean },
  ): ProcessPlan {
    return {
      ...servicePlan(service, this.context),
      name: `${service}-${replica}`,
      env: replicaEnvironment(service, { address, internal: isFirst ? '127.0.0.1' : address }, this.context),
      ready: () => isReady(`http://${address}:${this.context.ports.services[service]}`),
    };
  }

  /** Writes the file from which the gateway reads addresses instead of a name server. */
  private writeHostsFile(): void {
    const lines = [...this.replicas].map(([name, { address }]) => `${name.replace(/-\d$/, '')} ${address}\n`);
    const file = join(this.directory, 'names');
    writeFileSync(`${file}.new`, lines.join(''));
    renameSync(`${file}.new`, file);
  }
}
