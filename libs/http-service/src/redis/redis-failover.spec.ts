import { jest } from '@jest/globals';
import { createLogger, redisSettings } from '@fulfilment/runtime';
import { eventually, freePort } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPrimaries, RedisConnection, redisOptions } from './index.js';

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
  /** Starts redis-server with these lines of configuration; as a Sentinel if one begins with `sentinel`. */
  const startServer = (port: number, ...lines: string[]): void => {
    const file = join(folder, `${port}.conf`);
    const all = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, 'save ""', 'loglevel warning', ...lines];
    writeFileSync(file, `${all.join('\n')}\n`);
    const mode = lines.some((line) => line.startsWith('sentinel')) ? ['--sentinel'] : [];
    servers.push(spawn('redis-server', [file, ...mode], { stdio: 'ignore' }));
  };
  const withClient = async <Result>(
    port: number,
    use: (client: Redis) => Promise<Result>,
  ): Promise<Result> => {
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
    startServer(primary);
    startServer(replica, `replicaof 127.0.0.1 ${primary}`, 'repl-diskless-sync-delay 0');
    await withClient(replica, (client) =>
      eventually(async () => (await client.info()).includes('master_link_status:up')),
    );
    startServer(
      sentinel,
      `sentinel monitor suite 127.0.0.1 ${primary} 1`,
      'sentinel down-after-milliseconds suite 60000', // no failover because of a slow machine
    );
    await withClient(sentinel, (client) =>
      eventually(async () => {
        const replicas: unknown = await client.call('SENTINEL', 'replicas', 'suite');
        return Array.isArray(replicas) && replicas.length === 1;
      }),
    );
  });
  afterAll(async () => {
    const ended = servers.map((server) => once(server, 'exit'));
    for (const server of servers) server.kill('SIGKILL');
    await Promise.all(ended);
    rmSync(folder, { recursive: true });
  });

  it('finds the primary in every step of a rotation of the Sentinel password, and the Sentinels can elect one in each', async () => {
    const sentinels = [await freePort(), await freePort()];
    for (const port of sentinels)
      startServer(
        port,
        'requirepass older',
        'sentinel sentinel-pass older',
        `sentinel monitor rotated 127.0.0.1 ${ports.primary} 2`,
        'sentinel down-after-milliseconds rotated 60000',
      );
    const settingsWith = (password: string) =>
      redisSettings.parse({
        REDIS_URL: 'redis://unused.example/0',
        REDIS_SENTINELS: sentinels.map((port) => `127.0.0.1:${port}`).join(','),
        REDIS_SENTINEL_MASTER: 'rotated',
        REDIS_SENTINEL_PASSWORD: password,
      });
    const connectWith = async (password: string): Promise<RedisConnection> => {
      const connection = new RedisConnection(settingsWith(password), logger);
      await eventually(() => connection.tryCommand('test', (client) => client.ping()));
      return connection;
    };
    /** Sends a command to each Sentinel, on new connections. */
    const sendToEach = async (password: string, command: string, ...args: string[]): Promise<unknown[]> =>
      Promise.all(
        sentinels.map(async (port) => {
          const client = new Redis({ port, password }).on('error', () => undefined);
          return client.call(command, ...args).finally(() => client.disconnect());
        }),
      );
    /** Resolves when the Sentinels can elect a primary. They connect to each other with the password too. */
    const untilElectable = (password: string) =>
      eventually(async () => {
        await sendToEach(password, 'CLIENT', 'KILL', 'TYPE', 'normal'); // so that they reconnect with it
        // Rejects with NOQUORUM while too few of them are connected.
        const replies = await sendToEach(password, 'SENTINEL', 'ckquorum', 'rotated').catch(String);
        return Array.isArray(replies) && replies.every((reply) => String(reply).startsWith('OK 2 usable'));
      });

    await untilElectable('older');
    const before = await connectWith('older');
    await sendToEach('older', 'ACL', 'SETUSER', 'default', '>newer');
    await sendToEach('older', 'SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', 'newer');
    await untilElectable('newer');
    const [during, after] = [await connectWith('older'), await connectWith('newer')];
    await sendToEach('newer', 'ACL', 'SETUSER', 'default', '<older');
    await untilElectable('newer');
    const late = await connectWith('newer');
    const primary = `127.0.0.1:${ports.primary}`;
    expect(await readPrimaries(settingsWith('newer'))).toMatchObject([{ primary }, { primary }]);
    const rejected = { error: expect.stringContaining('WRONGPASS') };
    expect(await readPrimaries(settingsWith('older'))).toMatchObject([rejected, rejected]);
    await Promise.all([before, during, after, late].map((connection) => connection.stop()));
  });

  it('leads to the primary that a Sentinel names, also after a failover from a suspended one', async () => {
    const settings = redisSettings.parse({
      REDIS_URL: 'redis://unused.example/0',
      REDIS_SENTINELS: `127.0.0.1:1,127.0.0.1:${ports.sentinel}`,
      REDIS_SENTINEL_MASTER: 'suite',
    });
    const written = jest.spyOn(console, 'error');
    const connection = new RedisConnection(settings, logger);
    const write = () => connection.tryCommand('test', (client) => client.set('test', '1'));
    await eventually(write);
    expect(await readPrimaries(settings)).toEqual([
      { sentinel: '127.0.0.1:1', error: expect.stringContaining('ECONNREFUSED') },
      { sentinel: `127.0.0.1:${ports.sentinel}`, primary: `127.0.0.1:${ports.primary}` },
    ]);
    await withClient(ports.sentinel, (client) =>
      client.call('SENTINEL', 'SET', 'suite', 'down-after-milliseconds', '1000'),
    );
    servers[0]?.kill('SIGSTOP'); // the primary; its connections stay open
    await eventually(async () => {
      await write();
      return (await connection.tryCommand('test', (client) => client.info('server')))?.includes(
        `tcp_port:${ports.replica}`,
      );
    });
    await eventually(write); // once the replica has become the primary
    await connection.stop();
    // The Sentinel would change the roles of the servers during the next test.
    await withClient(ports.sentinel, (client) => client.call('SENTINEL', 'REMOVE', 'suite'));
    servers[0]?.kill('SIGCONT');
    expect(written).not.toHaveBeenCalled(); // standard error is for log lines
  });

  it('is reopened when the primary at a stable address has become a replica', async () => {
    const url = `redis://127.0.0.1:${ports.replica}`; // the primary since the previous test
    await withClient(ports.replica, (client) => client.replicaof('NO', 'ONE'));
    const connection = new RedisConnection({ REDIS_URL: url }, logger);
    const write = () => connection.tryCommand('test', (client) => client.set('test', '1'));
    await eventually(write);
    let opened = 0;
    connection.client.on('ready', () => (opened += 1));
    // It becomes read-only at once; it needs no primary to replicate from.
    await withClient(ports.replica, (client) => client.replicaof('127.0.0.1', '1'));
    await eventually(async () => {
      await write();
      return opened > 0;
    });
    await connection.stop();
  });
});
