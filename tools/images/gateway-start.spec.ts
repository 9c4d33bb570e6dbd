import { eventually, freePort, listen } from '@fulfilment/testing';
import { certificatesIn } from '@fulfilment/testing/certificates';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { root } from '../dev/settings.ts';

/** Runs the start script of the gateway's image with nginx and a fake name resolution. */
describe('the gateway that start.sh starts', () => {
  let directory: string;
  let service: Server;
  let servicePort: number;
  let port: number;
  let environment: Record<string, string>;
  let gateway: ChildProcess | undefined;
  let ca: string;
  let agent: Agent;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-start-'));
    service = createServer((_request, response) => {
      response.setHeader('x-request-id', 'known').end('{}');
    });
    servicePort = (await listen(service)).port;
    port = await freePort();
    const { certificateFile, keyFile, caFile } = await certificatesIn(directory);
    // Replaces getent: the names of services that have addresses are in a file, one `NAME ADDRESS` per line.
    writeFileSync(
      join(directory, 'getent'),
      `#!/bin/sh\nsed -n "s/^$2 \\(.*\\)/\\1 STREAM/p" '${directory}/names'\n`,
    );
    chmodSync(join(directory, 'getent'), 0o755);
    writeFileSync(join(directory, 'names'), '');
    environment = {
      PATH: `${directory}:${process.env.PATH ?? ''}:/usr/sbin`,
      GATEWAY_TEMPLATE: join(root, 'deploy', 'gateway', 'nginx.conf.template'),
      GATEWAY_RUN_DIR: directory,
      GATEWAY_ACCESS_LOG: join(directory, 'access.log'),
      GATEWAY_LISTEN_LINES: `listen 127.0.0.1:${port} ssl;`,
      GATEWAY_CERTIFICATE: certificateFile,
      GATEWAY_CERTIFICATE_KEY: keyFile,
      GATEWAY_RESOLVE_SECONDS: '0.1',
      GATEWAY_PUBLIC_HOST: `localhost:${port}`,
      GATEWAY_HSTS_SECONDS: '0',
      GATEWAY_CONNECTIONS_PER_CLIENT: '100',
      GATEWAY_REQUESTS_PER_SECOND: '1000',
      GATEWAY_REQUEST_BURST: '1000',
      STORE_API_ADDRESS: `store-api:${servicePort}`,
      CREATOR_API_ADDRESS: `creator-api:${servicePort}`,
      AUTH_SERVER_ADDRESS: `auth-server:${servicePort}`,
      WEBHOOK_WORKER_ADDRESS: `webhook-worker:${servicePort}`,
    };
    ca = await readFile(caFile, 'utf8');
    agent = new Agent({ connect: { ca } });
  });

  afterEach(async () => {
    if (gateway !== undefined && gateway.exitCode === null) {
      gateway.kill('SIGQUIT');
      await once(gateway, 'close');
    }
    gateway = undefined;
    await agent.destroy();
    service.close();
    service.closeAllConnections();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = (changes: Readonly<Record<string, string>> = {}): ChildProcess => {
    const script = join(root, 'deploy', 'gateway', 'start.sh');
    return (gateway = spawn('sh', [script], {
      env: { ...environment, ...changes },
      stdio: ['ignore', 'ignore', 'pipe'],
    }));
  };

  /** Waits until a request has this status. */
  const expectStatus = async (path: string, wanted: number): Promise<void> => {
    let status: number | undefined;
    await eventually(
      async () => {
        const response = await request(`https://localhost:${port}${path}`, { dispatcher: agent }).catch(
          () => undefined,
        );
        await response?.body.dump();
        status = response?.statusCode;
        return status === wanted;
      },
      { describe: () => `the status of ${path} is ${status}, not ${wanted}` },
    );
  };

  it.each([
    ['a missing address', { STORE_API_ADDRESS: '' }, 'The setting STORE_API_ADDRESS is missing.'],
    ['an address without a port', { AUTH_SERVER_ADDRESS: 'auth' }, 'AUTH_SERVER_ADDRESS is invalid'],
    ['text that nginx would read as configuration', { STORE_API_ADDRESS: 'a:1; deny all' }, 'is invalid'],
    ['a missing certificate', { GATEWAY_CERTIFICATE: '/missing' }, 'the file /missing cannot be read'],
    ['a read-only directory', { GATEWAY_RUN_DIR: '/proc' }, '/proc is not writable'],
  ])('stops with status 78 and a message for %s', async (_case, changes, message) => {
    const gateway = start(changes);
    let written = '';
    gateway.stderr?.setEncoding('utf8').on('data', (text: string) => (written += text));
    const [code] = await once(gateway, 'close');
    expect(code).toBe(78);
    expect(written).toContain(message);
  });

  it('responds with 503 while a service has no address, and finds the service when it has one', async () => {
    start();
    await expectStatus('/store/v1/releases', 503);
    await expectStatus('/unknown', 404);
    writeFileSync(join(directory, 'names'), 'store-api 127.0.0.1\n');
    await expectStatus('/store/v1/releases', 200);
    await expectStatus('/creator/api/v1/orders', 503);
  });

  it('serves the folder GATEWAY_SITE_DIR at /docs', async () => {
    mkdirSync(join(directory, 'site', 'docs'), { recursive: true });
    writeFileSync(join(directory, 'site', 'docs', 'index.html'), '');
    chmodSync(directory, 0o755); // nginx reads it as another user
    start({ GATEWAY_SITE_DIR: join(directory, 'site') });
    await expectStatus('/docs/', 200);
  });

  it('keeps the last addresses of a service while its name cannot be resolved', async () => {
    writeFileSync(join(directory, 'names'), 'store-api 127.0.0.1\n');
    start();
    await expectStatus('/store/v1/releases', 200);
    // When creator-api responds, start.sh has also noticed that it can no longer resolve store-api.
    writeFileSync(join(directory, 'names'), 'creator-api 127.0.0.1\n');
    await expectStatus('/creator/api/v1/orders', 200);
    await expectStatus('/store/v1/releases', 200);
  });

  it('logs requests with neither the address nor the network of the client', async () => {
    start();
    const client = '127.0.0.5';
    await agent.close();
    agent = new Agent({ connect: { ca, localAddress: client } });
    await eventually(async () => {
      const headers = { 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.7' };
      const options = { dispatcher: agent, headers };
      const response = await request(`https://localhost:${port}/unknown`, options).catch(() => undefined);
      await response?.body.dump();
      return response?.statusCode === 404;
    });
    const log = await eventually(() => readFile(environment['GATEWAY_ACCESS_LOG'] ?? '', 'utf8'));
    expect(log).toContain('"path":"/unknown","status":404');
    expect(log).not.toMatch(/127\.0\.0\.|198\.51\.100\./);
  });

  it('avoids a replica once it has failed /health/serving twice in a row, until it responds again', async () => {
    const [one, other] = ['127.0.0.2', '127.0.0.3'] as const;
    const upstream = () => {
      const path = join(directory, 'nginx.conf');
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      const [, servers = ''] = /upstream store_api \{\s*(.*?)\s*keepalive/s.exec(text) ?? [];
      return servers.match(/127\.0\.0\.\d/g) ?? [];
    };
    const statuses = [503, 200, 503, 503, 200, 200];
    /** The replicas in use when the check of the same index arrived, so after the checks before it. */
    const upstreams: string[][] = [];
    const servers = [one, other].map((address) =>
      createServer(({ url }, response) => {
        let status = url === '/health/serving' ? 200 : 404;
        if (status === 200 && address === other) {
          status = statuses[upstreams.length] ?? 200;
          upstreams.push(upstream());
        }
        response.writeHead(status).end();
      }).listen(servicePort, address),
    );
    try {
      await Promise.all(servers.map((server) => once(server, 'listening')));
      writeFileSync(join(directory, 'names'), `store-api ${one}\nstore-api ${other}\n`);
      start();
      await eventually(() => upstreams.length > statuses.length);
      const all = [one, other];
      expect(upstreams.slice(0, 7)).toEqual([[], all, all, all, [one], all, all]);
    } finally {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
  });

  it('avoids a replica while it does not respond, and uses all if none responds', async () => {
    const suspended = new Set<string>();
    const replica = (address: string): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer((_request, response) => {
          if (!suspended.has(address)) response.end('{}');
        });
        server.listen(servicePort, address, () => resolve(server));
      });
    const [one, other] = ['127.0.0.2', '127.0.0.3'] as const;
    const servers = [await replica(one), await replica(other)];
    const expectUpstream = async (...addresses: readonly string[]): Promise<void> => {
      const wanted = addresses.map((address) => `server ${address}:${servicePort};`).join(' ');
      let found: string | undefined;
      await eventually(
        async () => {
          const text = await readFile(join(directory, 'nginx.conf'), 'utf8').catch(() => '');
          found = /upstream store_api \{\s*(.*?)\s*keepalive/s.exec(text)?.[1];
          return found === wanted;
        },
        { describe: () => `the upstream is ${found}, not ${wanted}` },
      );
    };
    try {
      writeFileSync(join(directory, 'names'), `store-api ${one}\nstore-api ${other}\n`);
      start();
      await expectUpstream(one, other);
      suspended.add(other);
      await expectUpstream(one);
      suspended.delete(other);
      await expectUpstream(one, other);
      suspended.add(one);
      await expectUpstream(other);
      suspended.add(other);
      await expectUpstream(one, other);
    } finally {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
  });
});
