import { jest } from '@jest/globals';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCreatorClient, exportOrders } from './creator.js';
import { ApiError, ConnectionError, createStoreClient, listReleases, readOrder } from './store.js';
import { failure, FakeApi, hangUp, json } from './fake-api.fixture.js';
import { waitFor } from './transport.js';

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

const path = { id: 'ord_1' };

/** Returns what a call throws. */
async function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Opens a CSV file whose parts the test sends. By default, the client waits 30 s for each. */
async function openFile(signal?: AbortSignal) {
  const { readable, writable } = new TransformStream<Uint8Array>();
  const writer = writable.getWriter();
  const file = new Response(readable, { headers: { 'content-type': 'text/csv' } });
  const client = createCreatorClient({ ...api.options(), fetch: () => Promise.resolve(file) });
  const { data } = await exportOrders({
    client,
    query: { creator: 'c' },
    headers: { 'x-request-id': 'req-1' },
    parseAs: 'stream',
    ...(signal !== undefined && { signal }),
  });
  const reader = new Response(data).body?.getReader();
  if (reader === undefined) throw new Error('The response has no body.');
  return {
    /** Does nothing when the client has cancelled the file. */
    send: (text: string) => void writer.write(Buffer.from(text)).catch(() => undefined),
    breakOff: (reason: Error) => void writer.abort(reason),
    reader,
  };
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  await nextTurn(); // a WeakRef keeps its target until this turn of the event loop ends
  if (typeof collect === 'function') collect();
}

describe('an error of a client', () => {
  it('has the code, the details and the request id of the response', async () => {
    const details = [{ field: 'limit', reason: 'must be an integer from 1 to 100' }];
    const message = 'The request is not valid.';
    api.reply(
      json(400, { statusCode: 400, code: 'VALIDATION_ERROR', message, details }, { 'x-request-id': 'req-1' }),
    );
    const error = await thrown(listReleases({ client: createStoreClient(api.options()) }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR', details, requestId: 'req-1' });
    expect(String(error)).toBe(`ApiError: 400 VALIDATION_ERROR: ${message}`);
  });

  it.each([
    ['an HTML page of a proxy', 502, 'text/html'],
    ['a success whose JSON is malformed', 200, 'application/json'],
  ])('has the code UNEXPECTED_RESPONSE for %s', async (_what, status, contentType) => {
    api.reply((response) =>
      response.writeHead(status, { 'content-type': contentType }).end('<h1>Hello</h1>'),
    );
    const error = await thrown(readOrder({ client: createStoreClient(api.options()), path }));
    expect(error).toMatchObject({ statusCode: status, code: 'UNEXPECTED_RESPONSE', details: [], error: '' });
  });

  it('has an empty error text and no details if the envelope lacks them', async () => {
    api.reply(json(400, { code: 'VALIDATION_ERROR', message: 'The request is not valid.' }));
    const error = await thrown(listReleases({ client: createStoreClient(api.options()) }));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', error: '', details: [] });
  });

  it('has the request id that was sent if there is no response', async () => {
    api.reply(hangUp);
    const error = await thrown(
      readOrder({ client: createStoreClient({ ...api.options(), maxRetries: 1 }), path }),
    );
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ timedOut: false, cause: expect.anything() });
    const sent = api.requests.map(({ headers }) => headers['x-request-id']);
    expect(sent).toEqual(Array(2).fill(error instanceof ConnectionError ? error.requestId : undefined));
  });
});

describe('a client', () => {
  it('ends an attempt after its timeout, and repeats it', async () => {
    let attempts = 0;
    const silent = (request: string | URL | Request) =>
      new Promise<Response>((_resolve, reject) => {
        attempts += 1;
        const { signal } = new Request(request);
        signal.addEventListener('abort', () =>
          reject(new Error('It was aborted.', { cause: signal.reason })),
        );
      });
    const client = createStoreClient({ ...api.options(), fetch: silent, timeoutMs: 1, maxRetries: 1 });
    expect(await thrown(readOrder({ client, path }))).toMatchObject({ timedOut: true });
    expect(attempts).toBe(2);
  });

  it('limits the wait for each part of a file, but neither the whole download nor a slow reader', async () => {
    jest.useFakeTimers();
    try {
      const { send, reader } = await openFile();
      for (const text of ['1', '2', '3']) {
        const read = reader.read();
        await jest.advanceTimersByTimeAsync(29_000);
        send(text);
        expect(Buffer.from((await read).value ?? []).toString()).toBe(text);
        await jest.advanceTimersByTimeAsync(60_000); // the caller processes the part
      }
      const late = thrown(reader.read());
      await jest.advanceTimersByTimeAsync(30_000);
      expect(await late).toMatchObject({ timedOut: true, requestId: 'req-1' });
    } finally {
      jest.useRealTimers();
    }
  });

  it('throws a ConnectionError with the request id when a file breaks off', async () => {
    const { breakOff, reader } = await openFile();
    const cause = new TypeError('terminated');
    breakOff(cause);
    const error = await thrown(reader.read());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ timedOut: false, requestId: 'req-1', cause });
  });

  it('throws a ConnectionError when a file breaks off that the client reads as text', async () => {
    api.reply((response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '100' });
      response.write('kind', () => response.destroy());
    });
    const client = createCreatorClient(api.options());
    const uuid = '0199a000-0000-7000-8000-000000000001';
    const error = await thrown(exportOrders({ client, query: { creator: uuid } }));
    expect(error).toBeInstanceOf(ConnectionError);
  });

  it('ends a file when the caller aborts, also after the request was collected as garbage', async () => {
    const controller = new AbortController();
    const { send, reader } = await openFile(controller.signal);
    await collectGarbage();
    const reason = new Error('The person left.');
    controller.abort(reason);
    send('1'); // a reader that ignores the abort gets this part
    expect(await thrown(reader.read())).toBe(reason);
  });

  it("throws the signal's reason when the caller aborts during the wait for a part of a file", async () => {
    api.reply((response) => response.writeHead(200, { 'content-type': 'text/csv' }).write('kind'));
    const controller = new AbortController();
    const { data } = await exportOrders({
      client: createCreatorClient(api.options()),
      query: { creator: 'c' },
      parseAs: 'stream',
      signal: controller.signal,
    });
    const reader = new Response(data).body?.getReader();
    await reader?.read();
    const waiting = thrown(reader?.read() ?? Promise.resolve());
    await nextTurn(); // the client waits for the part, too
    const reason = new Error('The person left.');
    controller.abort(reason);
    expect(await waiting).toBe(reason);
  });

  it("throws the signal's reason and does not retry when the caller aborts a request", async () => {
    const controller = new AbortController();
    const reason = new Error('The person left.');
    api.reply(() => controller.abort(reason));
    const client = createStoreClient(api.options());
    expect(await thrown(readOrder({ client, path, signal: controller.signal }))).toBe(reason);
    expect(api.requests).toHaveLength(1);
  });

  it("throws the signal's reason at once when the caller aborts during the wait for a retry", async () => {
    const controller = new AbortController();
    const reason = new Error('The person left.');
    api.reply(failure(429, 'RATE_LIMITED', { 'retry-after': '30' }));
    const { baseUrl } = api.options(); // with the real wait
    const random = (): number => {
      setImmediate(() => controller.abort(reason));
      return 0;
    };
    const client = createStoreClient({ baseUrl, random });
    expect(await thrown(readOrder({ client, path, signal: controller.signal }))).toBe(reason);
    expect(api.requests).toHaveLength(1);
  });

  it('does not end a wait at once that is longer than a timer can be', async () => {
    const controller = new AbortController();
    const reason = new Error('The person left.');
    const waiting = thrown(waitFor(2 ** 31, controller.signal));
    await delay(10);
    controller.abort(reason);
    expect(await waiting).toBe(reason);
  });

  it('sends the access token that it was given', async () => {
    api.reply(json(200, {}));
    await readOrder({ client: createStoreClient({ ...api.options(), auth: 'at_1' }), path });
    expect(api.requests[0]?.headers.authorization).toBe('Bearer at_1');
  });

  it('rejects with UNAUTHORIZED when its token is a string, which cannot be renewed', async () => {
    api.reply(failure(401, 'UNAUTHORIZED'));
    const client = createStoreClient({ ...api.options(), auth: 'at_1' });
    expect(await thrown(readOrder({ client, path }))).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(api.requests).toHaveLength(1);
  });

  it('renews a token once, and rejects if the next one is rejected too', async () => {
    api.reply(failure(401, 'UNAUTHORIZED'));
    const renewed: string[] = [];
    const auth = {
      accessToken: () => Promise.resolve('at_1'),
      renew: (rejected: string) => {
        renewed.push(rejected);
        return Promise.resolve(`at_${renewed.length + 1}`);
      },
    };
    const client = createStoreClient({ ...api.options(), auth });
    expect(await thrown(readOrder({ client, path }))).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(renewed).toEqual(['at_1']);
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer at_1', 'Bearer at_2']);
  });
});
