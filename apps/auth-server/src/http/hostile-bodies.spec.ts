import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { expectNoLongBlock, expectNoLongBlockByText } from '@fulfilment/testing';
import { App, thirdPartyRedirect } from '../test/app.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

const maxBytes = 256 * 1024;
/** The limit of forms on pages (pages.middleware.ts). */
const maxFormBytes = 40 * 1024;
/** Somewhat below the limit of requests to oidc-provider, 56 KiB. */
const maxClientFormBytes = 55_000;
/** Generated bodies for a registration, and for each field of a form. */
const registrationRuns = 120;
const fieldRuns = 12;
startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server, { token_endpoint_auth_method: 'client_secret_post' });
});

async function post(path: string, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${server.direct}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body,
  });
  expect(response.status).toBeLessThan(500);
  await response.arrayBuffer();
  return response.status;
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };
const clientForms: readonly (readonly [string, readonly string[]])[] = [
  ['token', ['grant_type', 'client_id', 'client_secret', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope']], // prettier-ignore
  ['revoke', ['client_id', 'client_secret', 'token', 'token_type_hint']],
  ['introspect', ['client_id', 'client_secret', 'token', 'token_type_hint']],
  ['par', ['client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'code_challenge']],
  ['userinfo', ['access_token']],
];

describe('a request body of up to 256 KiB blocks the event loop of the authorization server for at most 50 ms', () => {
  it(
    'when a client registers',
    () =>
      expectNoLongBlock(
        {
          client_name: 'An app',
          redirect_uris: [thirdPartyRedirect],
          grant_types: ['authorization_code'],
          token_endpoint_auth_method: 'none',
          scope: 'orders:read',
          contacts: ['a@app.example'],
          client_uri: 'https://app.example',
        },
        (body) => post('/api/auth/oauth2/register', body, { 'content-type': 'application/json' }),
        registrationRuns,
      ),
    120_000,
  );

  it.each(clientForms)(
    'when %s takes a form',
    async (endpoint, names) => {
      const good = { client_id: app.clientId, grant_type: 'refresh_token', token: 'x', refresh_token: 'x' };
      for (const name of names) {
        await expectNoLongBlockByText(
          maxBytes,
          (text) =>
            post(
              `/api/auth/oauth2/${endpoint}`,
              new URLSearchParams({ ...good, [name]: text.toWellFormed() }).toString(),
              formHeaders,
            ),
          fieldRuns,
        );
      }
    },
    120_000,
  );

  it('when a form has as many parameters as fit', async () => {
    for (const path of ['token', 'revoke', 'introspect', 'par', 'userinfo', 'register'].map(
      (endpoint) => `/api/auth/oauth2/${endpoint}`,
    )) {
      for (const parameter of ['a&', 'a=%25&', '&', '=', 'client_id=x&', '%']) {
        const body = parameter.repeat(Math.floor(maxClientFormBytes / parameter.length));
        // One run with this body; the generated text is not used.
        await expectNoLongBlockByText(10, () => post(path, body, formHeaders), 1);
      }
    }
  });

  it.each(['email', 'password', 'csrf'])(
    'when a person signs in with a hostile %s',
    async (name) => {
      const browser = new FormBrowser(server);
      const page = await browser.get((await app.request('openid')).url);
      const send = sendForm(formOf(page, '/login'), browser.cookieHeader(page.url));
      const good = { email: 'owner@harbour.example', password: 'wrong' };
      expect(await send(good)).toBe(401);
      await expectNoLongBlockByText(maxFormBytes, (text) => send({ ...good, [name]: text }), fieldRuns);
    },
    120_000,
  );

  it.each(['current_password', 'new_password', 'csrf'])(
    'when a person changes the password with a hostile %s',
    async (name) => {
      const { browser } = await app.signIn('openid');
      const page = await browser.get(`${server.url}/account/security`);
      const send = sendForm(formOf(page, '/password'), browser.cookieHeader(page.url));
      const good = {
        current_password: 'wrong',
        new_password: 'another horse',
        repeated_password: 'another horse',
      };
      expect(await send(good)).toBe(401);
      await expectNoLongBlockByText(maxFormBytes, (text) => send({ ...good, [name]: text }), fieldRuns);
    },
    120_000,
  );
});

/** Submits the form of a page with other fields. */
function sendForm({ action, hidden }: ReturnType<typeof formOf>, cookie: string) {
  return (fields: Readonly<Record<string, string>>): Promise<number> =>
    post(new URL(action, server.url).pathname, new URLSearchParams({ ...hidden, ...fields }).toString(), {
      ...formHeaders,
      cookie,
      origin: server.url,
    });
}
