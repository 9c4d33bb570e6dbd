import { request as plainRequest } from 'node:http';
import { send } from './suite/api-client.js';
import { errorOf } from './suite/error-envelope.js';
import { suite } from './suite/the-suite.js';

describe('the gateway', () => {
  it.each(['/store', '/creator'])('serves the health of %s without a token', async (api) => {
    const live = await send('get', `${api}/health/live`).expect(200);
    expect(live.body).toEqual({ status: 'ok' });
    const ready = await send('get', `${api}/health/ready`).expect(200);
    expect(ready.body.status).toBe('ok');
    expect(new Set(Object.values(ready.body.checks))).toEqual(new Set(['ok']));
    expect(Object.keys(ready.body.checks)).toContain('postgres');
    expect(ready.headers['cache-control']).toBe('no-store');
  });

  it('answers what belongs to nobody itself, in the envelope', async () => {
    const answer = await send('get', '/nowhere').set('x-request-id', 'mine').expect(404);
    expect(errorOf(answer).code).toBe('NOT_FOUND');
    expect(answer.headers['x-request-id']).toBe('mine');
  });

  it('serves no metrics and no message outcomes', async () => {
    for (const path of ['/metrics', '/store/metrics', '/messages/1', '/store/messages/1']) {
      expect(errorOf(await send('get', path)).code).toBe('NOT_FOUND');
    }
  });

  it('speaks HTTPS only', async () => {
    const { hostname, port } = new URL(suite.base_url);
    const status = await new Promise((resolve, reject) => {
      plainRequest({ hostname, port, path: '/store/health/live' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });

  it('tells browsers to stay with HTTPS, and no server or framework name', async () => {
    const { headers } = await send('get', '/store/health/live');
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d+/);
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers.server ?? '').not.toMatch(/\d/);
  });
});
