import { jest } from '@jest/globals';
import { createLogger, redisSettings } from '@fulfilment/runtime';
import { eventually, freePort } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { primariesBySentinel, RedisConnection, redisOptions } from './index.js';

const logger = createLogger('test', 'silent');

describe('redisOptions', () => {
  it('lets connections to Sentinels use TLS if those to Redis do', () => {
    const given = { REDIS_SENTINELS: 'a', REDIS_SENTINEL_PASSWORD: 'word' };
    const tls = { enableTLSForSentinelMode: true, sentinelTLS: {} };
    const optionsFor = (url: string) => redisOptions(redisSettings.parse({ ...given, REDIS_URL: url }));
    expect(optionsFor('rediss://a')).toMatchObject({ ...tls, sentinelPassword: 'word', name: 'mymaster' });
    expect(optionsFor('redis://a')).not.toMatchObject(tls);
  });
});

describe('a connection to Redis with a replica', () => {
  let folder: string;
  let ports: { readonly primary: number; readonly replica: number; readonly sentinel: number };
  const servers: ChildProcess[] = [];
  const run = (port: number, ...lines: string[]): void => {
    const file = join(folder, `${port}.conf`);
    const all = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, 'save ""', 'loglevel warning', ...lines];
    writeFileSync(file, `${all.join('\n')}\n`);
    const mode = lines.some((line) => line.startsWith('sentinel')) ? ['--sentinel'] : [];
    servers.push(spawn('redis-server', [file, ...mode], { stdio: 'ignore' }));
  };
  const direct = async <Result>(port: number, use: (client: Redis) => Promise<Result>): Promise<Result> => {
    const client = new Redis(port, '127.0.0.1').on('error', () => undefined);
    try {
      return await use(client);
    } finally {
      client.disconnect();
    }
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'redis-'));
    ports = { primary: await freePort(), replica: await freePort(), sentinel: await freePort() };
    const { primary, replica, sentinel } = ports;
    run(primary);
    run(replica, `replicaof 127.0.0.1 ${primary}`, 'repl-diskless-sync-delay 0');
    await direct(replica, (client) =>
      eventually(async () => (await client.info()).includes('master_link_status:up') || undefined),
    );
    run(
      sentinel,
      `sentinel monitor suite 127.0.0.1 ${primary} 1`,
      'sentinel down-after-milliseconds suite 1000',
    );
    await direct(sentinel, (client) =>
      eventually(async () => {
        const replicas: unknown = await client.call('SENTINEL', 'replicas', 'suite');
        return (Array.isArray(replicas) && replicas.length === 1) || undefined;
      }),
    );
  });
  afterAll(async () => {
    const ended = servers.map((server) => once(server, 'exit'));
    for (const server of servers) server.kill('SIGKILL');
    await Promise.all(ended);
    rmSync(folder, { recursive: true });
  });

  it('leads to the primary that Sentinel names, also when the previous one is suspended', async () => {
    const settings = redisSettings.parse({
      REDIS_URL: 'redis://unused.example/0',
      REDIS_SENTINELS: `127.0.0.1:1,127.0.0.1:${ports.sentinel}`,
      REDIS_SENTINEL_MASTER: 'suite',
    });
    const written = jest.spyOn(console, 'error');
    const connection = new RedisConnection(settings, logger);
    const write = () => connection.tryCommand('test', (client) => client.set('test', '1'));
    await eventually(write);
    expect(await primariesBySentinel(settings)).toEqual([
      { sentinel: '127.0.0.1:1', error: expect.any(String) },
      { sentinel: `127.0.0.1:${ports.sentinel}`, primary: `127.0.0.1:${ports.primary}` },
    ]);
    servers[0]?.kill('SIGSTOP'); // its connections stay open
    await eventually(async () => {
      await write();
      return (
        (await connection.tryCommand('test', (client) => client.info('server')))?.includes(
          `tcp_port:${ports.replica}`,
        ) || undefined
      );
    });
    await eventually(write); // once the replica has become the primary
    await connection.stop();
    servers[0]?.kill('SIGCONT');
    expect(written).not.toHaveBeenCalled(); // standard error is for log lines
  });

  it('is opened again when the primary behind a stable name has become a replica', async () => {
    const url = `redis://127.0.0.1:${ports.replica}`; // the primary, after the test before
    await direct(ports.replica, (client) => client.replicaof('NO', 'ONE'));
    const connection = new RedisConnection({ REDIS_URL: url }, logger);
    const write = () => connection.tryCommand('test', (client) => client.set('test', '1'));
    await eventually(write);
    let opened = 0;
    connection.client.on('ready', () => (opened += 1));
    await direct(ports.replica, (client) => client.replicaof('127.0.0.1', String(ports.sentinel)));
    await eventually(async () => {
      await write();
      return opened > 0 || undefined;
    });
    await connection.stop();
  });
});
