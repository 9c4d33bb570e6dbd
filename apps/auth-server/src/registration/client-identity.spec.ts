import { startWhileLocked } from '@fulfilment/database/testing';
import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import * as client from 'openid-client';
import {
  App,
  manageClient,
  parseRegistration,
  register,
  registerClient,
  thirdPartyRedirect,
} from '../test/app.fixture.js';
import { auditRecords } from '../test/audit-records.fixture.js';
import { json } from '../test/json.fixture.js';
import { commandContext, runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { password } from '../test/users.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const registerTourStats = () => registerClient(server, { client_name: 'Tour Stats' });
const changeClient = (newClient: Parameters<typeof manageClient>[2], changes: object = {}) =>
  manageClient(server, 'PUT', newClient, { client_name: 'Tour Stats', ...changes });
const consentsOf = (clientId: string) =>
  server.database.rows(testStatement('SELECT creator_id FROM consents WHERE client_id = $1'), [clientId]);
const lockClient = testStatement(
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`,
);
const disconnections = (clientId: string) =>
  server.database.rows<{ creator_id: string }>(
    testStatement(`SELECT body -> 'data' ->> 'creator_id' AS creator_id FROM outbox
      WHERE body ->> 'type' = 'client.disconnected' AND body -> 'data' ->> 'client_id' = $1`),
    [clientId],
  );

describe('a client that changes itself (RFC 7592)', () => {
  it.each([
    [
      'redirect host',
      { redirect_uris: ['https://evil.example/callback'] },
      { name: 'Tour Stats', redirect_hosts: ['evil.example'], application_type: 'web' },
    ],
    [
      'set of redirect hosts',
      { redirect_uris: [thirdPartyRedirect, 'https://evil.example/'] },
      { name: 'Tour Stats', redirect_hosts: ['app.example', 'evil.example'], application_type: 'web' },
    ],
    [
      'name',
      { client_name: 'Label Backup' },
      { name: 'Label Backup', redirect_hosts: ['app.example'], application_type: 'web' },
    ],
    [
      'application type',
      { redirect_uris: [thirdPartyRedirect, 'com.example.app:/callback'] },
      {
        name: 'Tour Stats',
        redirect_hosts: ['app.example', 'com.example.app:'],
        application_type: 'native',
      },
    ],
  ])(
    'to another %s loses its consents and tokens, is published as disconnected, and is audited',
    async (_, changes, after) => {
      const newClient = await registerTourStats();
      const app = await App.ofClient(server, newClient);
      const { tokens } = await app.signIn('orders:read offline_access');
      expect(await consentsOf(newClient.client_id)).toHaveLength(1);
      expect((await changeClient(newClient, changes)).status).toBe(200);
      expect(await consentsOf(newClient.client_id)).toEqual([]);
      await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
      expect(await client.tokenIntrospection(app.configuration, tokens.access_token)).toEqual({
        active: false,
      });
      expect(await disconnections(newClient.client_id)).toEqual([
        { creator_id: server.creators.harbour.uuid },
      ]);
      expect(await auditRecords(server, { event: 'client_changed', clientId: newClient.client_id })).toEqual([
        expect.objectContaining({
          details: {
            before: { name: 'Tour Stats', redirect_hosts: ['app.example'], application_type: 'web' },
            after,
            tokens_ended: 1,
          },
        }),
      ]);
    },
  );

  it('keeps its consents and tokens when only the path of the redirect URI changes', async () => {
    const newClient = await registerTourStats();
    const app = await App.ofClient(server, newClient);
    const { tokens } = await app.signIn('orders:read offline_access');
    const response = await changeClient(newClient, {
      redirect_uris: [thirdPartyRedirect, 'https://app.example/other'],
    });
    expect(response.status).toBe(200);
    await expect(app.refresh(tokens.refresh_token ?? '')).resolves.toHaveProperty('access_token');
    expect(await consentsOf(newClient.client_id)).toHaveLength(1);
  });

  it('does not get a consent from a page that was open during the change', async () => {
    const newClient = await registerTourStats();
    const app = await App.ofClient(server, newClient);
    const browser = new FormBrowser(server);
    const { url } = await app.request('orders:read');
    const signIn = await browser.get(url);
    const consent = await browser.submit(formOf(signIn, '/login'), {
      email: 'owner@harbour.example',
      password,
    });
    expect((await changeClient(newClient, { client_name: 'Label Backup' })).status).toBe(200);
    const rejected = await browser.submit(formOf(consent, '/consent'), {});
    expect(rejected.status).toBe(403);
    expect(rejected.text).toContain('the page was out of date');
    expect(await consentsOf(newClient.client_id)).toEqual([]);
  });

  it('gets 401 and stays deleted when the operator deletes it concurrently (§2)', async () => {
    const newClient = await registerTourStats();
    const [deletion, change] = await startWhileLocked(
      server.database,
      (tx) => tx.row(lockClient, [newClient.client_id]),
      () => runCommand('client delete', { CLIENT: newClient.client_id }),
      () => changeClient(newClient), // reads the client, and waits for the deletion
    );
    expect(deletion).toMatchObject({ client_id: newClient.client_id, deleted: true });
    expect(change.status).toBe(401);
    expect(await json(change)).toMatchObject({ error: 'invalid_token' });
    expect(await server.database.rows(lockClient, [newClient.client_id])).toEqual([]);
  });

  it('gets 409 and changes nothing when the operator replaces its secret concurrently', async () => {
    const confidential = { token_endpoint_auth_method: 'client_secret_basic' };
    const newClient = await registerClient(server, { client_name: 'Tour Stats', ...confidential });
    const [replacement, change] = await startWhileLocked(
      server.database,
      (tx) => tx.row(lockClient, [newClient.client_id]),
      () => runCommand('client secret', { CLIENT: newClient.client_id }),
      // Reads the old secret, and waits for the replacement.
      () => changeClient(newClient, { client_name: 'Label Backup', ...confidential }),
    );
    expect(change.status).toBe(409);
    expect(await json(change)).toMatchObject({ error: 'invalid_request' });
    expect(await json(await manageClient(server, 'GET', newClient))).toMatchObject({
      client_name: 'Tour Stats',
      client_secret: replacement.client_secret,
    });
    const retried = await changeClient(newClient, { client_name: 'Label Backup', ...confidential });
    expect(await json(retried)).toMatchObject({ client_secret: replacement.client_secret });
  });

  it('never keeps a consent for a name that the consent page did not show, if its name changes during consents', async () => {
    const newClient = await registerTourStats();
    const app = await App.ofClient(server, newClient);
    let current = newClient;
    for (let round = 0; round < 5; round += 1) {
      const name = `Tour Stats ${round}`;
      const [, response] = await Promise.all([
        app.authorize('orders:read').catch(() => undefined),
        changeClient(current, { client_name: name }),
      ]);
      current = await parseRegistration(response);
      const left = await consentsOf(newClient.client_id);
      if (left.length === 0) continue;
      // The remaining consents were given after the change, for the new name.
      const [record] = (
        await auditRecords(server, { event: 'consent_given', clientId: newClient.client_id })
      ).slice(-1);
      expect(record?.details).toMatchObject({ app_name: name });
    }
  });
});

describe('reserved names', () => {
  it.each([
    'Fulfilment\u3164', // a Hangul filler, which is an invisible letter
    'dash-board', // the first-party client of these tests
  ])('are rejected at a registration and at a change: %s', async (client_name) => {
    const response = await register(server, { client_name });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({
      error: 'invalid_client_metadata',
      error_description: expect.stringContaining('client_name'),
    });
    const newClient = await registerTourStats();
    expect((await changeClient(newClient, { client_name })).status).toBe(400);
    expect(await json(await manageClient(server, 'GET', newClient))).toMatchObject({
      client_name: 'Tour Stats',
    });
  });
});

describe('the consent page', () => {
  const consentPageOf = async (app: App, scope = 'orders:read') => {
    const browser = new FormBrowser(server);
    const signIn = await browser.get((await app.request(scope, { prompt: 'consent' })).url);
    return browser.submit(formOf(signIn, '/login'), {
      email: 'owner@harbour.example',
      password,
    });
  };

  it('marks an app that registered itself as unverified, and shows its redirect host in the heading', async () => {
    const { text } = await consentPageOf(await App.register(server, { client_name: 'Tour Stats' }));
    expect(text).toMatch(/<h1>Allow <strong>Tour Stats<\/strong> \(app\.example\)\?<\/h1>/);
    expect(text).toContain('Unverified app');
  });

  it('does not mark an app that the operator created', async () => {
    const { client_id } = await runCommand('client create', {
      name: 'Partner',
      'redirect-uri': [thirdPartyRedirect],
    });
    const { text } = await consentPageOf(await App.ofClient(server, { client_id }));
    expect(text).not.toContain('Unverified app');
  });

  it('lists the data that webhook subscriptions receive', async () => {
    const { text } = await consentPageOf(await App.register(server), 'webhooks:create');
    expect(text).toContain('your orders with tracking numbers, and stock changes of your products');
  });
});

describe('client create --first-party', () => {
  it.each(['http://127.0.0.1:8976/callback', 'com.example.dashboard:/callback'])(
    'rejects the redirect URI %s without a loopback AUTH_URL, but allows it to a third-party client',
    async (uri) => {
      const production = { ...commandContext, hasLoopbackUrl: false };
      await expect(
        runCommand('client create', { name: 'Desk', 'redirect-uri': [uri], 'first-party': true }, production),
      ).rejects.toThrow('--redirect-uri must use https with --first-party.');
      await expect(
        runCommand('client create', { name: 'Desk', 'redirect-uri': [uri] }, production),
      ).resolves.toHaveProperty('client_id');
    },
  );

  it('accepts a loopback redirect URI when AUTH_URL has a loopback host', async () => {
    await expect(
      runCommand('client create', {
        name: 'Desk',
        'redirect-uri': ['http://127.0.0.1:8976/callback'],
        'first-party': true,
      }),
    ).resolves.toHaveProperty('client_id');
  });
});
