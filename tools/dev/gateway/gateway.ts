import type { Certificates } from '@fulfilment/testing/certificates';
import { fillTemplate } from '@fulfilment/testing/fill-template';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { DependencyContext } from '../dependencies/dependency.ts';
import { containerPlan } from '../dependencies/docker.ts';
import { Failure } from '../failure.ts';
import { isListening } from '../ports.ts';
import { findProgram, runOrThrow } from '../run-program.ts';
import { commandFor, root, type Settings, siteDir } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';

const template = join(root, 'deploy', 'gateway', 'nginx.conf.template');
const probeTimeoutMs = 2_000;
/** Limits that local clients cannot reach. All of them share one address, so limits count them together. */
export const localLimits = {
  GATEWAY_CONNECTIONS_PER_CLIENT: '8000',
  GATEWAY_REQUESTS_PER_SECOND: '100000',
  GATEWAY_REQUEST_BURST: '100000',
} as const;
/** Values of the template that are the same for every suite on this machine. */
const fixedValues = {
  // Run the workers as root too: otherwise they could not read a state directory below /root.
  GATEWAY_USER_LINE: process.getuid?.() === 0 ? 'user root;' : '',
  GATEWAY_HSTS_SECONDS: '0', // HSTS would apply to every port of localhost
  GATEWAY_REAL_IP_LINES: '',
  GATEWAY_KEEPALIVE_LINES: '',
  GATEWAY_SITE_DIR: siteDir,
  ...localLimits,
};

/** @throws Failure when another program uses the port. Clients know this port, so it is not replaced. */
export async function checkGatewayPort(port: number, { stateDir }: Settings): Promise<void> {
  if (!(await isListening(port))) return;
  throw new Failure(
    `Another program uses port ${port} of the gateway. Stop that program, or use other ports: ${commandFor(stateDir, `SUITE_BASE_PORT=${port + 1000} npm start`)}`,
  );
}

/** Writes the configuration of the gateway, and plans its process. */
export async function prepareGateway(
  context: DependencyContext,
  certificates: Certificates,
  accessLog: string,
  source: 'program' | 'docker',
): Promise<ProcessPlan> {
  const dir = join(context.settings.stateDir, 'gateway');
  const config = join(dir, 'nginx.conf');
  const runDir = join(dir, 'run');
  const program = findProgram('nginx') ?? 'nginx';
  mkdirSync(runDir, { recursive: true });
  const { ports } = context;
  const supportsHttp2 = source === 'docker' || (await runOrThrow(program, ['-V'])).includes('http_v2_module');
  const listenOptions = supportsHttp2 ? 'ssl http2' : 'ssl';
  writeFileSync(
    config,
    fillTemplate(readFileSync(template, 'utf8'), {
      ...fixedValues,
      ...upstreamsAt(ports.services),
      GATEWAY_RUN_DIR: runDir,
      GATEWAY_ACCESS_LOG: accessLog,
      GATEWAY_CERTIFICATE: certificates.certificateFile,
      GATEWAY_CERTIFICATE_KEY: certificates.keyFile,
      GATEWAY_LISTEN_LINES: loopbackAddresses()
        .map((address) => `    listen ${address}:${ports.gateway} ${listenOptions};`)
        .join('\n'),
      GATEWAY_PUBLIC_HOST: `localhost:${ports.gateway}`,
    }),
  );
  // A path that belongs to no service, since the services may not be ready yet.
  const ready = async (): Promise<boolean> => (await gatewayStatus(ports.gateway, '/', certificates)) === 404;
  if (source === 'docker') return containerPlan('gateway', { context, kind: 'service', ready });
  return {
    name: 'gateway',
    kind: 'service',
    program,
    args: ['-e', 'stderr', '-p', dir, '-c', config, '-g', 'daemon off;'],
    cwd: dir,
    env: { PATH: '/usr/bin:/bin' },
    stopSignal: 'SIGQUIT', // completes running requests
    stopTimeoutMs: 5_000,
    ready,
  };
}

function upstreamsAt(ports: DependencyContext['ports']['services']): Readonly<Record<string, string>> {
  const server = (port: number): string => `server 127.0.0.1:${port};`;
  return {
    STORE_API_SERVERS: server(ports['store-api']),
    CREATOR_API_SERVERS: server(ports['creator-api']),
    AUTH_SERVER_SERVERS: server(ports['auth-server']),
    WEBHOOK_WORKER_SERVERS: server(ports['webhook-worker']),
  };
}

/** Browsers try ::1 first for localhost if the machine has IPv6. */
function loopbackAddresses(): string[] {
  const interfaces = Object.values(networkInterfaces()).flat();
  const hasIpv6 = interfaces.some((row) => row?.address === '::1');
  return ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])];
}

export async function gatewayStatus(port: number, path: string, { caFile }: Certificates): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile) }, headersTimeout: probeTimeoutMs });
  try {
    return (await request(`https://localhost:${port}${path}`, { dispatcher })).statusCode;
  } finally {
    await dispatcher.destroy();
  }
}
