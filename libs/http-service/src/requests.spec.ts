import { responseHeaders, standardHeaders } from '@fulfilment/api-reference';
import { metrics } from '@fulfilment/runtime';
import { connect } from 'node:net';
import request from 'supertest';
import { eventually } from '@fulfilment/testing';
import { freshAddress, type SmallApi, smallApi } from './small-api.fixture.js';

describe('an API', () => {
  let api: SmallApi;
  let token: string;
  let isDatabaseUp = true;
  beforeAll(async () => {
    api = await smallApi({
      readiness: {
        postgres: () => (isDatabaseUp ? Promise.resolve() : Promise.reject(new Error('secret address'))),
        rabbitmq: () => true,
      },
    });
    token = await api.authServer.token({ scope: 'orders:create' });
  });
  afterAll(() => api.stop());

  const post = (type = 'application/json') =>
    request(api.url).post('/store/notes').set('authorization', `Bearer ${token}`).set('content-type', type);
  const validBody = JSON.stringify({ title: 'A note', quantity: 3 });

  it('counts requests by route, never by path parameters', async () => {
    await request(api.url).get('/store/notes/open').expect(200);
    await request(api.url).get('/health/live').expect(200);
    await request(api.url).get('/store/nothing/01900000-0000-7000-8000-000000000001').expect(404);
    await post().send('{').expect(400);
    const text = await metrics.metrics();
    for (const labels of [
      'method="GET",route="/store/notes/open",status="200"',
      'method="GET",route="/health/live",status="200"',
      'method="GET",route="none",status="404"',
      'method="POST",route="/store/notes",status="400"',
    ]) {
      expect(text).toMatch(new RegExp(`^http_request_duration_seconds_count\\{${labels}\\} [1-9]`, 'm'));
    }
    expect(text).not.toContain('nothing');
  });

  it.each([
    ['plain', 'a.b-c_d~1', 'a.b-c_d~1'],
    ['encoded', 'a%2Fb%C3%A4', 'a/bä'],
    ['unusual', "(a)!'", "(a)!'"],
  ])('passes the decoded parameter to the route if the path is %s', async (_name, sent, id) => {
    const response = await request(api.url).get(`/store/notes/open/${sent}?further=%2F`).expect(200, { id });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(response.text)),
      'x-note': 'open',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
    });
    expect(await metrics.metrics()).toContain('method="GET",route="/store/notes/open/:id",status="200"');
  });

  it('responds to HEAD with the headers of GET', async () => {
    const { headers: ofGet } = await request(api.url).get('/store/notes/open/1').expect(200);
    const head = await request(api.url).head('/store/notes/open/1').expect(200);
    const { 'x-request-id': _id, date: _date, ...same } = ofGet;
    expect(head.headers).toMatchObject(same);
    expect(head.text).toBeUndefined();
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'application/ld+json'])(
    'accepts the content type %s',
    async (type) => {
      const response = await post(type).send(validBody).expect(201);
      expect(response.body).toEqual({ title: 'A note', quantity: 3 });
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
  ])('responds with 415 to %s', async (type) => {
    const response = await post(type).send(validBody).expect(415);
    expect(response.body).toMatchObject({ statusCode: 415, code: 'VALIDATION_ERROR' });
  });

  it('responds with 400 to a body that is not UTF-8', async () => {
    const bytes = Buffer.from(validBody.replace('A note', 'A nöte'), 'latin1');
    const sent = post();
    sent.write(bytes);
    const response = await sent.expect(400);
    expect(response.body.details).toEqual([{ field: 'body', reason: 'malformed_json' }]);
  });

  it('responds with 400 in the envelope to malformed HTTP', async () => {
    const { hostname, port } = new URL(api.url);
    const response = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write('FOO /store/notes HTTP/1.1\r\n\r\n'));
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => resolve(Buffer.concat(chunks).toString())).on('error', reject);
    });
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^X-Request-Id: /m);
    expect(JSON.parse(body)).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_ERROR',
      error: 'Bad Request',
    });
  });

  it('responds with 415 to a compressed body', async () => {
    const response = await post().set('content-encoding', 'gzip').send(validBody).expect(415);
    expect(response.body).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'content-encoding', reason: 'unsupported_media_type' }],
    });
  });

  it('accepts 256 KiB and responds with 413 to one more byte', async () => {
    const padded = (bytes: number) => {
      const open = '{"title":"A note","quantity":3,"pad":"';
      return `${open}${'x'.repeat(bytes - open.length - 2)}"}`;
    };
    await post().send(padded(262_144)).expect(201);
    const response = await post().send(padded(262_145)).expect(413);
    expect(response.body).toMatchObject({
      statusCode: 413,
      code: 'VALIDATION_ERROR',
      error: 'Payload Too Large',
    });
  });

  it('responds with 413 to a body above the limit of its route', async () => {
    const send = (bytes: number) =>
      request(api.url)
        .post('/store/notes/short')
        .set('authorization', `Bearer ${token}`)
        .set('content-type', 'application/json')
        .send(validBody.padEnd(bytes));
    await send(1024).expect(201);
    const response = await send(1025).expect(413);
    expect(response.body).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'The request body is larger than 1024 bytes.',
    });
  });

  it.each([
    ['malformed JSON', '{"title":', 'malformed_json'],
    ['an array', '[]', 'must be an object'],
    ['a bare word', 'text', 'malformed_json'],
    ['a text', '"text"', 'must be an object'],
    ['a number', '5', 'must be an object'],
    ['null', 'null', 'must be an object'],
  ])('responds with 400 to %s', async (_name, body, reason) => {
    const response = await post().send(body).expect(400);
    expect(response.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'body', reason }] });
  });

  it('treats a missing body as an empty object, and returns an error for each missing member', async () => {
    const response = await post().expect(400);
    const fields = response.body.details.map(({ field }: { field: string }) => field);
    expect(new Set(fields)).toEqual(new Set(['title', 'quantity']));
  });

  it('accepts a body with unknown members, including __proto__', async () => {
    const response = await post()
      .send('{"title":"A note","quantity":3,"admin":true,"__proto__":{"admin":true}}')
      .expect(201);
    expect(response.body).toEqual({ title: 'A note', quantity: 3 });
  });

  it('omits Retry-After from a 503 if a retry without an idempotency-key could do the work twice', async () => {
    const send = () =>
      request(api.url).post('/store/notes/unavailable').set('authorization', `Bearer ${token}`);
    expect((await send().expect(503)).headers['retry-after']).toBeUndefined();
    expect((await send().set('idempotency-key', 'a').expect(503)).headers['retry-after']).toBe('1');
  });

  it("returns the caller's request id if it is well formed, else a new one", async () => {
    const send = (id: string) => request(api.url).get('/store/notes/open').set('x-request-id', id);
    expect((await send('order-42.a/b')).headers['x-request-id']).toBe('order-42.a/b');
    for (const bad of ['has space', 'a'.repeat(129), '<script>']) {
      expect((await send(bad)).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
    const unknown = await request(api.url).get('/store/nowhere').set('x-request-id', 'mine').expect(404);
    expect(unknown.headers['x-request-id']).toBe('mine');
  });

  it.each([
    ['get', '/store/nowhere'],
    ['get', '/nowhere'],
    ['get', '/store/notes/open/'],
    ['get', '/store/notes/open//'],
    ['get', '/store/Notes/open'],
    ['get', '/store/notes/open/1/2'],
    ['delete', '/store/notes'],
    ['put', '/store/notes'],
  ] as const)('responds with 404 to %s %s, in the envelope', async (method, path) => {
    const response = await request(api.url)[method](path).expect(404);
    expect(response.body).toEqual({
      statusCode: 404,
      code: 'NOT_FOUND',
      error: 'Not Found',
      message: expect.any(String),
    });
  });

  it('responds with 404 to a path that cannot be decoded, as to any unknown path', async () => {
    const response = await request(api.url).get('/store/notes/%E0%A4%A').expect(404);
    expect(response.body).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
  });

  it('reveals nothing about an unexpected error', async () => {
    const response = await request(api.url).get('/store/notes/broken').expect(500);
    expect(response.body).toMatchObject({ statusCode: 500, code: 'INTERNAL_ERROR' });
    expect(response.text).not.toContain('hunter2');
  });

  it('is always live, and ready when its dependencies are available', async () => {
    const ready = await request(api.url).get('/store/health/ready').expect(200);
    expect(ready.body).toEqual({ status: 'ok', checks: { postgres: 'ok', rabbitmq: 'ok' } });
    expect(ready.headers['cache-control']).toBe('no-store');
    isDatabaseUp = false;
    const rejected = await eventually(async () => {
      const response = await request(api.url).get('/store/health/ready');
      return response.status === 503 ? response : undefined;
    });
    expect(rejected.body).toEqual({
      statusCode: 503,
      code: 'SERVICE_UNAVAILABLE',
      error: 'Service Unavailable',
      message: expect.any(String),
      details: [{ field: 'postgres', reason: 'unavailable' }],
    });
    expect(rejected.headers['retry-after']).toBe('1');
    expect(rejected.text).not.toContain('secret address');
    await request(api.url).get('/store/health/live').expect(200, { status: 'ok' });
    isDatabaseUp = true;
    await eventually(async () => (await request(api.url).get('/store/health/ready')).status === 200);
  });

  it.each(['/store/health/live', '/health/ready', '/.well-known/oauth-protected-resource/store'])(
    'allows browsers of any origin to read %s, including the preflight',
    async (path) => {
      const preflight = await request(api.url)
        .options(path)
        .set('origin', 'https://shop.example')
        .set('access-control-request-method', 'GET')
        .expect(204);
      expect(preflight.headers['access-control-allow-origin']).toBe('*');
      const read = await request(api.url).get(path).set('origin', 'https://shop.example').expect(200);
      expect(read.headers['access-control-allow-origin']).toBe('*');
      expect(read.headers['access-control-expose-headers']).toContain('X-Request-Id');
    },
  );

  it('lets browsers read every response header that the references document', async () => {
    const { headers } = await request(api.url).get('/health/live').set('origin', 'https://shop.example');
    const exposed = headers['access-control-expose-headers']?.split(',');
    const readableAnyway = 'Cache-Control'; // CORS-safelisted (Fetch §2.2.2)
    const documented = new Set(Object.keys({ ...standardHeaders, ...responseHeaders }));
    documented.delete(readableAnyway);
    expect(new Set(exposed)).toEqual(documented);
  });

  it.each(['/store/health/live', '/health/ready', '/store/notes/open'])(
    'sends %s completely for If-None-Match: *, since it has no ETag',
    async (path) => {
      const response = await request(api.url).get(path).set('if-none-match', '*').expect(200);
      expect(response.text).not.toBe('');
    },
  );

  it.each([
    ['post', '/.well-known/oauth-protected-resource/store'],
    ['delete', '/.well-known/oauth-protected-resource/store'],
    ['get', '/.well-known/oauth-protected-resource/store/more'],
  ] as const)('responds with 404 to %s %s, in the envelope', async (method, path) => {
    const response = await request(api.url)[method](path).expect(404);
    expect(response.body).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
  });

  it('allows browsers of any origin to send requests without credentials', async () => {
    const preflight = await request(api.url)
      .options('/store/notes')
      .set('origin', 'https://shop.example')
      .set('access-control-request-method', 'POST')
      .set('access-control-request-headers', 'authorization,content-type,idempotency-key')
      .expect(204);
    expect(preflight.headers['access-control-allow-origin']).toBe('*');
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    expect(preflight.headers['access-control-allow-headers']).toContain('authorization');
    const rejected = await request(api.url)
      .get('/store/notes')
      .set({ origin: 'https://shop.example', 'x-forwarded-for': freshAddress() })
      .expect(401);
    expect(rejected.headers['access-control-allow-origin']).toBe('*');
    expect(rejected.headers['access-control-expose-headers']).toContain('X-Request-Id');
  });
});
