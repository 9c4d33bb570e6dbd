import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createCreatorClient, exportOrders } from './creator.js';
import { ApiError, ConnectionError, createStoreClient, listReleases, readOrder } from './store.js';
import { failure, FakeApi, hangUp, json } from './fake-api.fixture.js';

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
    ['an HTML page of a proxy', 502, '<h1>Bad gateway</h1>'],
    ['a success without JSON', 200, '<h1>Welcome</h1>'],
  ])('says that %s is not a response of the API', async (_what, status, page) => {
    api.reply((response) =>
      response
        .writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'text/html' })
        .end(page),
    );
    const error = await thrown(readOrder({ client: createStoreClient(api.options()), path }));
    expect(error).toMatchObject({ statusCode: status, code: 'UNEXPECTED_RESPONSE', details: [] });
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
  it('ends an attempt after its timeout', async () => {
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

  it('ends a file only when a part of it does not arrive in time', async () => {
    jest.useFakeTimers();
    try {
      let part: (text: string) => void = () => undefined;
      const body = new ReadableStream({
        start: (controller) => void (part = (text) => controller.enqueue(Buffer.from(text))),
      });
      const file = new Response(body, { headers: { 'content-type': 'text/csv' } });
      const fetched = (): Promise<Response> => Promise.resolve(file);
      const client = createCreatorClient({ ...api.options(), fetch: fetched, timeoutMs: 100 });
      const { data } = await exportOrders({ client, query: { creator: 'c' }, parseAs: 'stream' });
      const reader = new Response(data).body?.getReader();
      for (const text of ['1', '2', '3']) {
        const read = reader?.read();
        await jest.advanceTimersByTimeAsync(90);
        part(text);
        expect(Buffer.from((await read)?.value ?? []).toString()).toBe(text);
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('stops when the caller aborts a request', async () => {
    const controller = new AbortController();
    const reason = new Error('The person left.');
    api.reply(() => controller.abort(reason));
    const client = createStoreClient(api.options());
    expect(await thrown(readOrder({ client, path, signal: controller.signal }))).toBe(reason);
    expect(api.requests).toHaveLength(1);
  });

  it('stops when the caller aborts during the wait for a retry', async () => {
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

  it('sends the access token that it was given', async () => {
    api.reply(json(200, {}));
    await readOrder({ client: createStoreClient({ ...api.options(), auth: 'at_1' }), path });
    expect(api.requests[0]?.headers.authorization).toBe('Bearer at_1');
  });

  it('rejects with UNAUTHORIZED when it has only one token', async () => {
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
      renew: (rejected: string) => Promise.resolve(`at_${renewed.push(rejected) + 1}`),
    };
    const client = createStoreClient({ ...api.options(), auth });
    expect(await thrown(readOrder({ client, path }))).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(renewed).toEqual(['at_1']);
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer at_1', 'Bearer at_2']);
  });
});
