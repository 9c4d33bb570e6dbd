import { metrics } from '@fulfilment/runtime';
import { randomUUID } from 'node:crypto';
import { App, registerClient } from '../../test/app.fixture.js';
import { auditRecords } from '../../test/audit-records.fixture.js';
import { endGuessWindows } from '../../test/guess-windows.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

const event = 'client_authentication_failed';
const endpoints = ['token', 'introspect', 'revoke', 'par'] as const;
const since = expect.any(String);

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const registerConfidential = () =>
  registerClient(server, { token_endpoint_auth_method: 'client_secret_post' });
const send = (endpoint: string, form: Readonly<Record<string, string>>) =>
  server.fetch(`${server.url}/api/auth/oauth2/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
const expectAuthenticationFailure = async (endpoint: string, client_id: string, client_secret: string) => {
  const fields = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' }; // for any endpoint
  const response = await send(endpoint, { client_id, client_secret, ...fields });
  expect([response.status, await response.json()]).toEqual([
    401,
    expect.objectContaining({ error: 'invalid_client' }),
  ]);
};
const recordsWritten = async () => {
  const values = (await metrics.getSingleMetric('audit_events_total')?.get())?.values ?? [];
  return values.find(({ labels }) => labels['event'] === event)?.value ?? 0;
};

describe('failed client authentication', () => {
  it('is one audit record for each client and window, with a count over all endpoints', async () => {
    const [one, other] = [await registerConfidential(), await registerConfidential()];
    for (const endpoint of endpoints)
      for (const secret of ['wrong', 'also wrong'])
        await expectAuthenticationFailure(endpoint, one.client_id, secret);
    await expectAuthenticationFailure('token', other.client_id, 'wrong');
    expect(await auditRecords(server, { event })).toEqual([]); // the window has not ended
    const writtenBefore = await recordsWritten();
    await endGuessWindows(server);
    await endGuessWindows(server); // writes nothing: a record is written once
    for (const [{ client_id: clientId }, count] of [
      [one, 8], // four endpoints, two secrets
      [other, 1],
    ] as const)
      expect(await auditRecords(server, { event, clientId })).toEqual([
        { event, email: null, details: { count, since } },
      ]);
    expect(await recordsWritten()).toBe(writtenBefore + 2);
    await expectAuthenticationFailure('token', one.client_id, 'wrong again');
    await endGuessWindows(server);
    const records = await auditRecords(server, { event, clientId: one.client_id });
    expect(records.map(({ details }) => details['count'])).toEqual([8, 1]);
  });

  it('is one audit record for all unknown client ids from a network', async () => {
    const before = (await auditRecords(server, { event })).length;
    const names = Array.from({ length: 5 }, () => randomUUID());
    for (const name of names) await expectAuthenticationFailure('introspect', name, 'guess');
    await endGuessWindows(server);
    const records = (await auditRecords(server, { event })).slice(before);
    expect(records).toEqual([{ event, email: null, details: { count: 5, since } }]);
  });

  it('is not audited for a client that authenticates, even if its request is otherwise invalid', async () => {
    const { client_id, client_secret = '' } = await registerConfidential();
    expect(
      (await send('token', { client_id, client_secret, grant_type: 'refresh_token', refresh_token: 'x' }))
        .status,
    ).toBe(400);
    expect((await send('introspect', { client_id, client_secret, token: 'x' })).status).toBe(200);
    await endGuessWindows(server);
    expect(await auditRecords(server, { event, clientId: client_id })).toEqual([]);
  });
});

describe('a rejected introspection of a valid token', () => {
  it('is one audit record for all repetitions in a window, so that a loop cannot fill the log', async () => {
    const { tokens } = await app.signIn('openid offline_access');
    const { client_id, client_secret = '' } = await registerConfidential();
    const introspect = async (token: string) =>
      (await send('introspect', { client_id, client_secret, token })).json();
    for (let round = 0; round < 3; round += 1)
      for (const token of [tokens.access_token, tokens.refresh_token ?? ''])
        expect(await introspect(token)).toEqual({ active: false });
    const readRecords = () => auditRecords(server, { event: 'introspection_rejected', clientId: client_id });
    expect(await readRecords()).toEqual([]);
    await endGuessWindows(server);
    // Three rounds with two tokens. The details are those of the last request.
    expect(await readRecords()).toEqual([
      {
        event: 'introspection_rejected',
        email: null,
        details: { token: 'refresh_token', token_client_id: app.clientId, count: 6, since },
      },
    ]);
  });
});
