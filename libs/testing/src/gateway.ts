import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { certificatesIn } from './certificates.js';
import { eventually } from './eventually.js';
import { fillTemplate } from './fill-template.js';
import { freePort } from './free-port.js';

const template = fileURLToPath(new URL('../../../deploy/gateway/nginx.conf.template', import.meta.url));
const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin:/usr/local/bin`;
const run = promisify(execFile);

/**
 * nginx, until nobody holds its standard input any more: the end of a test run, however it comes, ends it and takes its files away.
 * By process id, and no signal but its own to end at once.
 */
const watched = `nginx "$@" & nginx=$!; read -r _; kill -TERM "$nginx"; wait "$nginx"; rm -rf "$GATEWAY_DIR"`;

type Upstream =
  'STORE_API_ADDRESS' | 'CREATOR_API_ADDRESS' | 'AUTH_SERVER_ADDRESS' | 'WEBHOOK_WORKER_ADDRESS';

export interface TestGateway {
  /** `https://localhost:<port>` */
  readonly url: string;
  /** The only authority its certificate is signed by, PEM. */
  readonly ca: string;
  /** Fetches from it, trusting nobody else. */
  readonly fetch: typeof fetch;
  stop(): Promise<void>;
}

/**
 * The real gateway, deploy/gateway/nginx.conf.template, on a port of the test's own, with a certificate of its own. A service
 * that is given no address is away (502, told as 503).
 * @param services `host:port` of each that runs
 * @param changes other values for variables of the template
 */
export async function testGateway(
  services: Readonly<Partial<Record<Upstream, string>>>,
  port?: number,
  changes: Readonly<Record<string, string>> = {},
): Promise<TestGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-'));
  const certificates = await certificatesIn(dir, undefined, (args) => run('openssl', [...args]));
  const ownPort = port ?? (await freePort());
  const url = `https://localhost:${ownPort}`;
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
      GATEWAY_LISTEN_LINES: `    listen 127.0.0.1:${ownPort} ssl;`,
      GATEWAY_PUBLIC_HOST: `localhost:${ownPort}`,
      GATEWAY_HSTS_SECONDS: '0',
      STORE_API_ADDRESS: nowhere,
      CREATOR_API_ADDRESS: nowhere,
      AUTH_SERVER_ADDRESS: nowhere,
      WEBHOOK_WORKER_ADDRESS: nowhere,
      GATEWAY_REAL_IP_LINES: '',
      ...limitsForTests,
      ...services,
      ...changes,
    }),
  );
  const nginx = spawn(
    'sh',
    ['-c', watched, 'gateway', '-e', 'stderr', '-p', dir, '-c', config, '-g', 'daemon off;'],
    {
      env: { PATH: path, GATEWAY_DIR: dir },
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true, // Ctrl-C in a terminal is for the tests; they end it
    },
  );
  const ended = once(nginx, 'exit');
  const ca = readFileSync(certificates.caFile, 'utf8');
  await eventually(() => answers(ownPort, ca));
  const trusting = fetchTrusting(ca);
  return {
    url,
    ca,
    fetch: trusting.fetch,
    stop: async () => {
      await trusting.close();
      nginx.stdin.end();
      await ended;
    },
  };
}

const nowhere = '127.0.0.1:1';
/** All clients of the tests have one address. */
const limitsForTests = {
  GATEWAY_CONNECTIONS_PER_CLIENT: '8000',
  GATEWAY_REQUESTS_PER_SECOND: '100000',
  GATEWAY_REQUEST_BURST: '100000',
};

/** Fetches over TLS, trusting this authority (PEM) alone. */
export function fetchTrusting(ca: string): { readonly fetch: typeof fetch; close(): Promise<void> } {
  const dispatcher = new Agent({ connect: { ca, family: 4 } });
  return { fetch: (input, init) => fetch(input, { ...init, dispatcher }), close: () => dispatcher.destroy() };
}

/** Its own answer to a path nobody has: the services need not run for it. */
function answers(port: number, ca: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host: 'localhost', port, path: '/', ca, family: 4, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 404 ? true : undefined);
    });
    asked.once('error', () => resolve(undefined));
    asked.end();
  });
}
