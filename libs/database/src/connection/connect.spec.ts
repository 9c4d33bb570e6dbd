import { jest } from '@jest/globals';
import {
  startFakePooler,
  type FakePooler,
  type FakePoolerOptions,
  patientTimeouts,
  scratchDatabase,
} from '../testing/index.js';
import { flakyProxy } from '@fulfilment/testing';
import type { DataSource } from 'typeorm';
import {
  connectProgram,
  connectWhenUp,
  createDataSource,
  Database,
  statement,
  UnsuitableConnection,
  verifyNamedStatements,
  verifyOwnSession,
} from '../index.js';

const programOptions = { workload: 'operator' } as const;
const serviceOptions = { forceGenericPlan: true };
const readSettings = statement(
  'test.read-settings',
  `SELECT current_setting('statement_timeout') AS statement_timeout,
     current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('enable_seqscan') AS seqscan,
     current_setting('jit') AS jit, current_setting('plan_cache_mode') AS plans`,
);

describe('a connection', () => {
  let scratch: Awaited<ReturnType<typeof scratchDatabase>>;
  const sources: DataSource[] = [];
  const poolers: FakePooler[] = [];
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const open = (url: string, options: object = serviceOptions): DataSource => {
    const source = createDataSource({
      url,
      poolSize: 2,
      applicationName: 'test',
      migrations: [],
      connectTimeoutMs: patientTimeouts.connectTimeoutMs,
      ...options,
    });
    sources.push(source);
    return source;
  };
  const openBehindPooler = async (poolerOptions?: FakePoolerOptions, options: object = serviceOptions) => {
    const pooler = await startFakePooler(scratch.url, poolerOptions);
    poolers.push(pooler);
    return open(pooler.url, options);
  };
  beforeAll(async () => {
    scratch = await scratchDatabase([]);
  });
  afterEach(async () => {
    for (const source of sources.splice(0)) if (source.isInitialized) await source.destroy();
    for (const pooler of poolers.splice(0)) await pooler.stop();
    failures.length = 0;
  });
  afterAll(() => scratch.drop());

  it('has every setting that a service sets at start-up', async () => {
    const source = open(scratch.url);
    await connectWhenUp(source, serviceOptions, onFailure);
    expect(await new Database(source).row(readSettings)).toEqual({
      statement_timeout: '8s',
      idle: '30s',
      seqscan: 'off',
      jit: 'off',
      plans: 'force_generic_plan',
    });
  });

  it('is unsuitable when a pooler drops the settings, until the server sets them for the role', async () => {
    const own = await scratchDatabase([]);
    const pooler = await startFakePooler(own.url);
    poolers.push(pooler);
    const source = open(pooler.url);
    const error: unknown = await connectWhenUp(source, serviceOptions, onFailure).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UnsuitableConnection);
    const { message } = error instanceof Error ? error : new Error();
    expect(message).toContain(
      'enable_seqscan is on, idle_in_transaction_session_timeout is 0, jit is on, plan_cache_mode is auto, statement_timeout is 0:',
    );
    expect(failures).toEqual([]);
    for (const change of message.match(/ALTER ROLE [^;]+;/g) ?? [])
      await own.database.run({ name: '', text: change });
    const reconnected = open(pooler.url);
    await connectWhenUp(reconnected, serviceOptions, onFailure);
    expect(await new Database(reconnected).row(readSettings)).toMatchObject({
      statement_timeout: '8s',
      jit: 'off',
    });
    for (const opened of sources.splice(0)) await opened.destroy();
    await own.drop();
  });

  it('is unsuitable when a pooler rejects the start-up parameter', async () => {
    const source = await openBehindPooler({ rejectsOptions: true });
    await expect(connectWhenUp(source, serviceOptions, onFailure)).rejects.toThrow(
      /ignore_startup_parameters/,
    );
    expect(failures).toEqual([]);
  });

  it('is retried while PostgreSQL cannot be reached', async () => {
    const proxy = await flakyProxy(scratch.url);
    proxy.disconnect();
    await connectWhenUp(open(proxy.url), serviceOptions, (error) => {
      onFailure(error);
      proxy.restore();
    });
    expect(failures).toHaveLength(1);
    for (const source of sources.splice(0)) await source.destroy();
    await proxy.stop();
  });

  it('is replaced when an attempt to connect fails, also for a Database that was already used', async () => {
    const source = open(scratch.url);
    const database = new Database(source);
    jest.spyOn(source.driver, 'afterConnect').mockImplementationOnce(async () => {
      await database.row(readSettings); // a request during the attempt
      throw new Error('The connection was lost.');
    });
    await connectWhenUp(source, serviceOptions, onFailure);
    expect(failures).toHaveLength(1);
    expect(await database.row(readSettings)).toMatchObject({ jit: 'off' });
  });

  it('is unsuitable for named statements when several connections share a session', async () => {
    const source = await openBehindPooler({ sharesSession: true });
    const other = open(poolers[0]?.url ?? '');
    for (const each of [source, other]) await each.initialize();
    const databases = [new Database(source), new Database(other)];
    await expect(verifyNamedStatements(databases, onFailure)).rejects.toThrow(/max_prepared_statements/);
    expect(failures).toEqual([]);
  });

  it('is unsuitable for a program when a pooler drops or rejects its settings', async () => {
    const dropping = await openBehindPooler({}, programOptions);
    await expect(connectProgram(dropping, programOptions)).rejects.toThrow(
      /^idle_in_transaction_session_timeout is 0\. .*DATABASE_DIRECT_URL/,
    );
    expect(dropping.isInitialized).toBe(false);
    const rejecting = await openBehindPooler({ rejectsOptions: true }, programOptions);
    await expect(connectProgram(rejecting, programOptions)).rejects.toThrow(/DATABASE_DIRECT_URL/);
  });

  it('has no statement timeout in a program, also when the server sets one for the role', async () => {
    const own = await scratchDatabase([]);
    const timeout = `DO $$ BEGIN EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = 5000', current_user, current_database()); END $$`;
    await own.database.run({ name: '', text: timeout });
    const source = open(own.url, programOptions);
    await connectProgram(source, programOptions);
    expect(await new Database(source).row(readSettings)).toMatchObject({ statement_timeout: '0' });
    await source.destroy();
    await own.drop();
  });

  it('is unsuitable for a program if another connection can use its session, as behind a transaction pooler', async () => {
    const direct = open(scratch.url, programOptions);
    await direct.initialize();
    await verifyOwnSession(direct);
    const pooled = await openBehindPooler({ sharesSession: true }, programOptions);
    await pooled.initialize();
    await expect(verifyOwnSession(pooled)).rejects.toThrow(/transaction mode.*DATABASE_DIRECT_URL/);
  });

  it('is suitable for named statements when each connection has its own session', async () => {
    const own = open(scratch.url);
    await own.initialize();
    await verifyNamedStatements([scratch.database, new Database(own)], onFailure);
    expect(failures).toEqual([]);
  });
});
