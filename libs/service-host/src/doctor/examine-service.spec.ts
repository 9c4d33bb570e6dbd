import { startFakePooler, scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { type ScratchBroker, scratchBroker } from '@fulfilment/messaging/testing';
import { freePort, listen, storeUrl, uniqueName } from '@fulfilment/testing';
import { connect, createServer } from 'node:net';
import type { QueryRunner } from 'typeorm';
import { examineService } from './examine-service.js';
import type { Deployment } from './deployment.js';

class CreateNotes {
  readonly name: string = 'CreateNotes1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE notes (id int)');
  }
  async down(): Promise<void> {}
}
class CreateTags extends CreateNotes {
  override readonly name = 'CreateTags1800000000000';
}

describe('examineService', () => {
  let scratch: ScratchDatabase;
  let broker: ScratchBroker;
  let deployment: Deployment;
  beforeAll(async () => {
    scratch = await scratchDatabase([CreateNotes]);
    broker = await scratchBroker(['creator-api.facts', 'creator-api.replay']);
    deployment = {
      name: 'creator-api',
      migrations: [CreateNotes],
      extensions: ['pg_trgm'],
      roles: ['pg_monitor'],
      settings: {
        DATABASE_URL: scratch.url,
        REDIS_URL: storeUrl('TEST_REDIS_URL'),
        RABBITMQ_URL: broker.url,
        RABBITMQ_NAMESPACE: broker.namespace,
      },
    };
  });
  afterAll(async () => {
    await broker.drop();
    await scratch.drop();
  });

  /** Ignores differences of clocks below 100 s: a pause of this process during a request looks like one. */
  const problems = async (changes: Partial<Deployment>) =>
    (await examineService({ ...deployment, ...changes }))
      .filter(({ problem }) => !/^The clock of .* \d{1,5} ms\.$/.test(problem))
      .map(({ problem, fix }) => `${problem} ${fix}`);

  it('finds nothing wrong with a deployment after the migration step', async () => {
    expect(await problems({})).toEqual([]);
  });

  it('names missing migrations, extensions, roles, queues and the exchange', async () => {
    const found = await problems({
      migrations: [CreateNotes, CreateTags],
      extensions: ['pg_trgm', 'no_such_extension'],
      roles: ['no_such_role'],
      settings: { ...deployment.settings, RABBITMQ_NAMESPACE: 'no-such-namespace' },
    });
    expect(found).toHaveLength(4);
    expect(found.join('\n')).toMatch(/CreateTags1800000000000\. Run `node dist\/migrate\.js` of creator-api/);
    expect(found.join('\n')).toMatch(/: no_such_extension\./);
    expect(found.join('\n')).toContain('GRANT no_such_role');
    expect(found.join('\n')).toMatch(/no-such-namespace\.facts, no-such-namespace\.creator-api\.facts/);
  });

  it('reports a role that may not create tables', async () => {
    const user = uniqueName('user');
    const name = new URL(scratch.url).pathname.slice(1);
    const query = (text: string) => scratch.dataSource.query(text);
    await query(`CREATE ROLE ${user} LOGIN PASSWORD 'test' IN ROLE pg_monitor`);
    try {
      await query(`GRANT CREATE ON DATABASE ${name} TO ${user}`);
      await query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`);
      const url = new URL(scratch.url);
      url.username = user;
      url.password = 'test';
      const found = await problems({ settings: { ...deployment.settings, DATABASE_URL: url.href } });
      expect(found).toEqual([expect.stringContaining('may not create extensions and tables')]);
    } finally {
      await query(`DROP OWNED BY ${user}`);
      await query(`DROP ROLE ${user}`);
    }
  });

  it('describes a connection pooler that drops the settings of a session', async () => {
    const pooler = await startFakePooler(scratch.url);
    try {
      const [found, ...others] = await problems({
        settings: { ...deployment.settings, DATABASE_URL: pooler.url },
      });
      expect(found).toContain('SET statement_timeout');
      expect(others).toEqual([]);
    } finally {
      await pooler.stop();
    }
  });

  it('waits longer for Redis than the 250 ms of a request', async () => {
    const delayMs = 300;
    const url = new URL(storeUrl('TEST_REDIS_URL'));
    const { port, hostname } = url;
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.on('data', (bytes) => setTimeout(() => upstream.write(bytes), delayMs));
      client.on('close', () => upstream.destroy());
      upstream.pipe(client);
    });
    const slow = await listen(server);
    url.port = String(slow.port);
    expect(await problems({ settings: { ...deployment.settings, REDIS_URL: url.href } })).toEqual([]);
    await slow.close();
  });

  it('names the setting of each store that it cannot reach, in one run and without passwords', async () => {
    const closed = `localhost:${await freePort()}`;
    const found = await problems({
      settings: {
        ...deployment.settings,
        DATABASE_URL: `postgres://u:hush@${closed}/d`,
        DATABASE_DIRECT_URL: `postgres://u:hush@${closed}/d`,
        REDIS_URL: `redis://u:hush@${closed}`,
        RABBITMQ_URL: `amqp://u:hush@${closed}`,
      },
    });
    for (const setting of ['DATABASE_URL and DATABASE_DIRECT_URL', 'REDIS_URL', 'RABBITMQ_URL'])
      expect(found.filter((line) => line.includes(setting))).toHaveLength(1);
    expect(found.join('\n')).not.toContain('hush');
  });
});
