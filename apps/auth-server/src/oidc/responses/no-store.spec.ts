import { App, register } from '../../test/app.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const at = (path: string) => `${server.url}/api/auth/oauth2/${path}`;
const requests: Readonly<Record<string, () => Promise<Response>>> = {
  'a token request without a grant': () => app.post('token', {}),
  'a token request of an unknown client': () =>
    app.post('token', { client_id: 'nobody', grant_type: 'refresh_token' }),
  'a revocation': () => app.post('revoke', { token: 'x' }),
  'a revocation without a token': () => app.post('revoke', {}),
  'a revocation of an unknown client': () => app.post('revoke', { client_id: 'nobody', token: 'x' }),
  'an introspection': () => app.post('introspect', { token: 'x' }),
  'an introspection of an unknown client': () => app.post('introspect', { client_id: 'nobody', token: 'x' }),
  'an introspection without a client': () =>
    server.fetch(at('introspect'), { method: 'POST', body: new URLSearchParams({ token: 'x' }) }),
  'a registration that is not JSON': () =>
    server.fetch(at('register'), {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    }),
  'a registration that is rejected': () => register(server, { redirect_uris: [] }),
  'a request for a client without its token': () => server.fetch(at('register/x')),
  'UserInfo without a token': () => server.fetch(at('userinfo')),
  'a pushed request that is rejected': () => app.post('par', {}),
  'an authorization request that is rejected': () =>
    server.fetch(`${at('authorize')}?client_id=nobody`, { redirect: 'manual' }),
  'a body that is too large': () => app.post('revoke', { token: 'x'.repeat(60_000) }),
  'a parameter that cannot be stored': () =>
    server.fetch(at('revoke'), {
      method: 'POST',
      body: 'token=%00',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
};

it.each(Object.entries(requests))(
  'the response to %s must not be stored (RFC 6749 §5.1)',
  async (_, send) => {
    const response = await send();
    expect(response.headers.get('cache-control')).toBe('no-store');
  },
);
