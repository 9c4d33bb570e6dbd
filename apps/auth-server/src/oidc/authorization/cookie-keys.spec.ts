import { FormBrowser } from '@fulfilment/testing/form-browser';
import { createHmac } from 'node:crypto';
import { browserRequest } from '../../pages/browser-request.js';
import { FormTokens } from '../../pages/form-tokens.js';
import { DeviceCookies } from '../../sign-in/device-cookies.js';
import { App } from '../../test/app.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

const [older, newer] = ['an older key of at least 32 characters', 'a newer key of at least 32 characters'];
/** COOKIE_KEYS during a rotation: one replica has the value before a step, another the value after it. */
const steps = [
  { before: [older], after: [older, newer] },
  { before: [older, newer], after: [newer, older] },
  { before: [newer, older], after: [newer] },
];
/** COOKIE_KEYS of the replica that issues a value, and of the replica that reads it. */
const replicas = steps.flatMap(({ before, after }) => [
  { issuer: before, reader: after },
  { issuer: after, reader: before },
]);
const config = (COOKIE_KEYS: string[]) => ({ COOKIE_KEYS, AUTH_URL: 'https://auth.example' });

startServer({ COOKIE_KEYS: `${newer},${older}` });

describe('the session of a browser during a rotation of COOKIE_KEYS', () => {
  let session = '';
  beforeAll(async () => {
    const browser = new FormBrowser(server);
    await (await App.register(server)).authorize('orders:read', { browser });
    session = browser.cookie('__Host-session@/') ?? '';
  });

  it.each([
    ['continues with a cookie of the newest key', newer, 'consent_required'],
    ['continues with a cookie of an older key', older, 'consent_required'],
    ['ends with a cookie of a removed key', 'another key of at least 32 characters', 'login_required'],
  ])('%s', async (_, key, error) => {
    const app = await App.register(server); // a new app, which needs consent if the person is known
    const { url } = await app.request('orders:read', { prompt: 'none' });
    const cookie = `__Host-session=${session}`;
    const signature = createHmac('sha1', key).update(cookie).digest('base64url'); // as oidc-provider signs it
    const response = await server.fetch(url, {
      redirect: 'manual',
      headers: { cookie: `${cookie}; __Host-session.sig=${signature}` },
    });
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe(error);
  });
});

describe('a rotation of COOKIE_KEYS', () => {
  const removed = config(['a removed key of at least 32 characters']);

  it('keeps form tokens valid between replicas before and after a step', () => {
    for (const { issuer, reader } of replicas) {
      const csrf = new FormTokens(config(issuer)).issue('uid');
      const request = browserRequest({ headers: {}, body: { csrf } });
      expect(() => new FormTokens(config(reader)).verify('uid', request)).not.toThrow();
      expect(() => new FormTokens(removed).verify('uid', request)).toThrow('did not come from this page');
    }
  });

  it('keeps device cookies known between replicas before and after a step', () => {
    const user = { id: 'a person', password_hash: 'a hash' };
    for (const { issuer, reader } of replicas) {
      const { name, value } = new DeviceCookies(config(issuer)).issue(undefined, user);
      expect(new DeviceCookies(config(reader)).find(`${name}=${value}`, user)).toMatch(/^[\w-]{22}$/);
      expect(new DeviceCookies(removed).find(`${name}=${value}`, user)).toBeUndefined();
    }
  });
});
