import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { type Certificates, certificatesIn } from '../certificates.js';
import { eventually } from '../eventually.js';
import { fillTemplate } from './fill-template.js';
import { freePort } from '../free-port.js';
import { watchedProcess } from '../watched-process.js';

const template = fileURLToPath(new URL('../../../../deploy/gateway/nginx.conf.template', import.meta.url));

type Upstream =
  'STORE_API_ADDRESS' | 'CREATOR_API_ADDRESS' | 'AUTH_SERVER_ADDRESS' | 'WEBHOOK_WORKER_ADDRESS';

export type TestGateway = Awaited<ReturnType<typeof testGateway>>;

/**
 * The certificates of all gateways of this process. They are made once, since that starts openssl five times,
 * and a process that uses much memory takes long to start another one.
 */
let sharedCertificates: Promise<Certificates> | undefined;

function createCertificates(): Promise<Certificates> {
  const dir = mkdtempSync(join(tmpdir(), 'certificates-'));
  process.once('exit', () => rmSync(dir, { recursive: true }));
  return certificatesIn(dir);
}

/**
 * Starts the real gateway, deploy/gateway/nginx.conf.template, on a port of its own. Requests to a service
 * without an address get 503.
 * @param services `host:port` of each running service
 * @param variables other values for variables of the template
 */
export async function testGateway(
  services: Readonly<Partial<Record<Upstream, string>>>,
  variables: Readonly<Record<string, string>> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-'));
  sharedCertificates ??= createCertificates();
  const certificates = await sharedCertificates;
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const runDir = join(dir, 'run');
  const config = join(dir, 'nginx.conf');
  mkdirSync(runDir);
  writeFileSync(
    config,
    fillTemplate(readFileSync(template, 'utf8'), {
      GATEWAY_USER_LINE: process.getuid?.() === 0 ? 'user root;' : '',
      GATEWAY_RUN_DIR: runDir,
      GATEWAY_ACCESS_LOG: join(dir, 'access.log'),
      GATEWAY_CERTIFICATE: certificates.certificateFile,
      GATEWAY_CERTIFICATE_KEY: certificates.keyFile,
      GATEWAY_LISTEN_LINES: `    listen 127.0.0.1:${port} ssl;`,
      GATEWAY_PUBLIC_HOST: `localhost:${port}`,
      GATEWAY_HSTS_SECONDS: '0',
      STORE_API_SERVERS: serverLine(services.STORE_API_ADDRESS),
      CREATOR_API_SERVERS: serverLine(services.CREATOR_API_ADDRESS),
      AUTH_SERVER_SERVERS: serverLine(services.AUTH_SERVER_ADDRESS),
      WEBHOOK_WORKER_SERVERS: serverLine(services.WEBHOOK_WORKER_ADDRESS),
      GATEWAY_REAL_IP_LINES: '',
      GATEWAY_KEEPALIVE_LINES: '',
      GATEWAY_SITE_DIR: join(dir, 'site'),
      ...limitsForTests,
      ...variables,
    }),
  );
  // Ended by SIGTERM, which is nginx's signal for a fast shutdown.
  const nginx = ['nginx', '-e', 'stderr', '-p', dir, '-c', config, '-g', 'daemon off;'];
  const endNginx = watchedProcess(dir, nginx);
  const ca = readFileSync(certificates.caFile, 'utf8');
  const trusting = fetchTrusting(ca);
  // A path of no service, since the services may not be running.
  const responds = async () => (await trusting.fetch(url)).status === 404;
  await eventually(() => responds().catch(() => false));
  return {
    /** `https://localhost:<port>` */
    url,
    /** The certificate authority of the gateway, PEM. */
    ca,
    /** Fetches from the gateway, and trusts no other certificate authority. */
    fetch: trusting.fetch,
    stop: async (): Promise<void> => {
      await trusting.close();
      await endNginx();
    },
  };
}

/** Returns the line of an upstream server. Nothing listens at the default address. */
function serverLine(address = '127.0.0.1:1'): string {
  return `server ${address};`;
}

/** High limits, since all clients of the tests share one address. */
const limitsForTests = {
  GATEWAY_CONNECTIONS_PER_CLIENT: '8000',
  GATEWAY_REQUESTS_PER_SECOND: '100000',
  GATEWAY_REQUEST_BURST: '100000',
};

/** Fetches over TLS, and trusts only this certificate authority (PEM). */
export function fetchTrusting(ca: string): { readonly fetch: typeof fetch; close(): Promise<void> } {
  const dispatcher = new Agent({ connect: { ca, family: 4 } });
  return { fetch: (input, init) => fetch(input, { ...init, dispatcher }), close: () => dispatcher.destroy() };
}
