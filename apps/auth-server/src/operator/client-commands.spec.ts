import { FormBrowser } from '@fulfilment/testing/form-browser';
import { randomUUID } from 'node:crypto';
import { App, thirdPartyRedirect } from '../test/app.fixture.js';
import { auditRecordsOf, runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { isDenied } from '../test/token-states.fixture.js';

startServerWithOperator();

describe('client commands', () => {
  const createConfidentialClient = () =>
    runCommand('client create', {
      name: 'A server-side app',
      'redirect-uri': [thirdPartyRedirect],
      confidential: true,
    });

  it('client secret replaces the secret: only the new one is accepted', async () => {
    const { client_id: CLIENT, client_secret: before } = await createConfidentialClient();
    const withOldSecret = await App.ofClient(server, { client_id: CLIENT, client_secret: before });
    const { tokens } = await withOldSecret.signIn('openid offline_access');
    const { client_secret: after } = await runCommand('client secret', { CLIENT });
    await expect(withOldSecret.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ status: 401 });
    const withNewSecret = await App.ofClient(server, { client_id: CLIENT, client_secret: after });
    await expect(withNewSecret.refresh(tokens.refresh_token ?? '')).resolves.toHaveProperty('access_token');
    expect((await auditRecordsOf({ client: CLIENT })).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['client_registered', 'client_secret_changed']),
    );
    expect(JSON.stringify(await auditRecordsOf({ client: CLIENT }))).not.toContain(after);
  });

  it('client secret rejects a public client', async () => {
    await expect(runCommand('client secret', { CLIENT: server.clients.dashboard.client_id })).rejects.toThrow(
      'is public',
    );
  });

  it('client delete ends the tokens of the client immediately, and the client cannot be used', async () => {
    const app = await App.register(server);
    const CLIENT = app.clientId;
    const { tokens } = await app.signIn('orders:read offline_access');
    expect(await runCommand('client delete', { CLIENT })).toMatchObject({
      deleted: true,
      tokens_ended: 1,
    });
    expect(await isDenied(tokens.access_token)).toBe(true);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_client',
    });
    await expect(runCommand('client delete', { CLIENT })).rejects.toThrow(
      `The client ${CLIENT} does not exist.`,
    );
  });

  it('client list returns clients page by page, each once', async () => {
    const seen: string[] = [];
    let after: string | null = '';
    while (after !== null) {
      const page = await runCommand('client list', { limit: '2', after });
      expect(page.clients.length).toBeLessThanOrEqual(2);
      seen.push(...page.clients.map(({ client_id }: { client_id: string }) => client_id));
      after = page.next;
    }
    expect(seen).toContain(server.clients.dashboard.client_id);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('client create', () => {
  const newWarehouse = () => ({
    name: 'Warehouse',
    id: randomUUID(),
    'redirect-uri': [thirdPartyRedirect],
    confidential: true,
  });
  const countRegistrations = async (client: string) =>
    (await auditRecordsOf({ client })).filter(({ event }) => event === 'client_registered').length;

  it('changes nothing when it is repeated with the same options, and prints no secret', async () => {
    const warehouse = newWarehouse();
    const first = await runCommand('client create', warehouse);
    expect(first).toEqual({ client_id: warehouse.id, client_secret: expect.any(String) });
    expect(await runCommand('client create', warehouse)).toEqual({ client_id: warehouse.id });
    expect(await countRegistrations(warehouse.id)).toBe(1);
    const app = await App.ofClient(server, first);
    await expect(app.signIn('openid')).resolves.toHaveProperty('tokens');
  });

  it.each([
    ['another name', { name: 'Stockroom' }],
    ['another redirect URI', { 'redirect-uri': ['https://other.example/callback'] }],
    ['one more redirect URI', { 'redirect-uri': [thirdPartyRedirect, 'https://other.example/callback'] }],
    ['--first-party', { 'first-party': true }],
    ['--resource-server', { 'resource-server': true }],
    ['no --confidential', { confidential: false }],
  ])('is rejected with an existing id and %s, and the client stays unchanged', async (_, other) => {
    const warehouse = newWarehouse();
    await runCommand('client create', warehouse);
    await expect(runCommand('client create', { ...warehouse, ...other })).rejects.toThrow(
      `The client ${warehouse.id} already exists with different values.`,
    );
    expect(await runCommand('client create', warehouse)).toEqual({ client_id: warehouse.id });
    expect(await countRegistrations(warehouse.id)).toBe(1);
  });

  it('is rejected with the id of a client that registered itself, which stays unverified', async () => {
    const app = await App.register(server, { client_name: 'Self-made' });
    const options = { id: app.clientId, name: 'Self-made', 'redirect-uri': [thirdPartyRedirect] };
    await expect(runCommand('client create', options)).rejects.toThrow('already exists');
  });

  it('accepts a private-use scheme without a slash (RFC 8252 §7.1)', async () => {
    const uri = 'com.example.app:callback';
    const { client_id } = await runCommand('client create', { name: 'Native', 'redirect-uri': [uri] });
    const app = await App.ofClient(server, { client_id }, uri);
    const { url } = await app.request('openid');
    expect((await new FormBrowser(server).get(url)).text).toContain('to continue to <strong>Native</strong>');
  });

  it('rejects the reserved id of the account pages', async () => {
    await expect(
      runCommand('client create', {
        name: 'Evil',
        id: 'account',
        'redirect-uri': ['https://evil.example/'],
      }),
    ).rejects.toThrow('is reserved for the account pages');
  });
});
