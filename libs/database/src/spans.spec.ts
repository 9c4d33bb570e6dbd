import { inContext, Span, startTrace, WorkContext } from '@fulfilment/runtime';
import { type RecordedSpans, recordSpans } from '@fulfilment/runtime/testing';
import { flakyProxy } from '@fulfilment/testing';
import { statement } from './sql.js';
import { createDataSource, Database } from './index.js';
import { patientTimeouts, type ScratchDatabase, scratchDatabase } from './testing/scratch-database.js';

const selectOne = statement('test.one', 'SELECT 1 AS value');
const selectTwo = statement('test.two', 'SELECT 2 AS value');
const failing = statement('test.failing', 'SELECT 1 / 0');
// The codes of `status` are OpenTelemetry's: 0 is unset, 2 is an error.
const requestSpan = { name: 'request', kind: 'server' } as const;

describe('the spans of a database', () => {
  let scratch: ScratchDatabase;
  let recorded: RecordedSpans;
  beforeAll(async () => {
    scratch = await scratchDatabase([]);
  });
  afterAll(() => scratch.drop());
  beforeEach(() => {
    recorded = recordSpans();
  });
  afterEach(() => recorded.stop());

  const inRequest = async (work: () => Promise<unknown>): Promise<string | undefined> => {
    const trace = startTrace(requestSpan, { received: undefined, isTrusted: false });
    const context = new WorkContext({ request_id: 'r' }, undefined, trace);
    await inContext(context, work);
    return context.span?.spanId;
  };

  it('name the statements of a transaction, and are children of the span of the request', async () => {
    const requestSpanId = await inRequest(() =>
      scratch.database.transaction(async (tx) => {
        await tx.rows(selectOne);
        tx.awaitAtCommit(tx.rows(selectTwo));
      }),
    );
    expect(recorded.spans).toMatchObject([
      {
        name: 'transaction test.one',
        parentSpanContext: { spanId: requestSpanId },
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': 'test.one test.two' },
        status: { code: 0 },
      },
    ]);
  });

  it('say that a transaction was rolled back', async () => {
    await inRequest(async () => {
      await expect(scratch.database.transaction((tx) => tx.rows(failing))).rejects.toThrow(
        'division by zero',
      );
    });
    expect(recorded.spans).toMatchObject([{ status: { code: 2 }, attributes: { 'error.type': 'rollback' } }]);
  });

  it('say that a transaction got no connection', async () => {
    const proxy = await flakyProxy(scratch.url);
    const settings = { url: proxy.url, poolSize: 1, applicationName: 'test', migrations: [] };
    const source = await createDataSource({ ...patientTimeouts, ...settings }).initialize();
    const database = new Database(source);
    try {
      proxy.disconnect();
      await expect(database.row(selectOne)).rejects.toThrow(); // removes the lost connection from the pool
      await inRequest(async () => {
        await expect(database.transaction((tx) => tx.rows(selectOne))).rejects.toThrow();
      });
      expect(recorded.spans).toMatchObject([
        { name: 'transaction', status: { code: 2 }, attributes: { 'error.type': 'no_connection' } },
      ]);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('have no error if the response to COMMIT is lost and the commit probe finds the commit', async () => {
    const proxy = await flakyProxy(scratch.url);
    const settings = { url: proxy.url, poolSize: 2, applicationName: 'test', migrations: [] };
    const source = await createDataSource({ ...patientTimeouts, ...settings }).initialize();
    const trace = startTrace(requestSpan, { received: undefined, isTrusted: false });
    if (!(trace instanceof Span)) throw new Error('The trace is not recorded.');
    try {
      await new Database(source).transaction(
        async (tx) => {
          await tx.rows(selectOne);
          proxy.severAfter(1); // the next packet is COMMIT
        },
        { span: trace, commitProbe: { statement: selectOne, values: [] } },
      );
      expect(recorded.spans).toMatchObject([{ name: 'transaction test.one', status: { code: 0 } }]);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('are made for a single statement too, with the SQLSTATE of its error', async () => {
    await inRequest(async () => {
      await scratch.database.row(selectOne);
      await expect(scratch.database.row(failing)).rejects.toThrow('division by zero');
    });
    expect(recorded.spans).toMatchObject([
      { name: 'test.one', status: { code: 0 } },
      { name: 'test.failing', status: { code: 2 }, attributes: { 'error.type': '22012' } },
    ]);
  });

  it('are children of a given span, such as that of a message, even without a context', async () => {
    const trace = startTrace(requestSpan, { received: undefined, isTrusted: false });
    if (!(trace instanceof Span)) throw new Error('The trace is not recorded.');
    await scratch.database.transaction((tx) => tx.rows(selectOne), { span: trace });
    expect(recorded.spans).toMatchObject([{ parentSpanContext: { spanId: trace.spanId } }]);
  });

  it('are not made without a context and a given span, as in background loops', async () => {
    await scratch.database.row(selectOne);
    await scratch.database.transaction((tx) => tx.rows(selectOne));
    expect(recorded.spans).toEqual([]);
  });
});
