import { describe, expect, it } from '@jest/globals';
import { revokedTokenKey } from '@fulfilment/contracts';
import { decodeJwt } from 'jose';
import type { AuditRecord } from '../audit/read-audit-log.js';
import { App, thirdPartyRedirect } from '../test/app.js';
import { serverWithOperator } from '../test/operator.js';

const given = serverWithOperator();

/** The audit log, the newest record last. */
const written = async (flags: Readonly<Record<string, unknown>>): Promise<AuditRecord[]> =>
  (await given.operator.run('audit', flags)).events;
const isDenied = async (token: string) =>
  (await given.server.redis.client.exists(revokedTokenKey(String(decodeJwt(token).jti)))) === 1;

describe('client commands', () => {
  const confidential = () =>
    given.operator.run('client create', {
      name: 'A server-side app',
      'redirect-uri': [thirdPartyRedirect],
      confidential: true,
    });

  it('client secret: only the new secret is accepted', async () => {
    const { client_id: CLIENT, client_secret: before } = await confidential();
    const old = await App.known(given.server, CLIENT, thirdPartyRedirect, before);
    const { tokens } = await old.signIn('openid offline_access');
    const { client_secret: after } = await given.operator.run('client secret', { CLIENT });
    await expect(old.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ status: 401 });
    const now = await App.known(given.server, CLIENT, thirdPartyRedirect, after);
    await expect(now.refresh(tokens.refresh_token ?? '')).resolves.toHaveProperty('access_token');
    expect((await written({ client: CLIENT })).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['client_registered', 'client_secret_changed']),
    );
    expect(JSON.stringify(await written({ client: CLIENT }))).not.toContain(after);
    await expect(
      given.operator.run('client secret', { CLIENT: given.server.people.dashboard.client_id }),
    ).rejects.toThrow('is public');
  });

  it('client delete: its tokens are rejected immediately, and the client cannot be used', async () => {
    const { clientId: CLIENT, ...app } = await App.registered(given.server);
    const known = await App.known(given.server, CLIENT, app.redirectUri);
    const { tokens } = await known.signIn('orders:read offline_access');
    expect(await given.operator.run('client delete', { CLIENT })).toMatchObject({
      deleted: true,
      tokens_ended: 1,
    });
    expect(await isDenied(tokens.access_token)).toBe(true);
    await expect(known.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_client',
    });
    await expect(given.operator.run('client delete', { CLIENT })).rejects.toThrow(
      `The client ${CLIENT} does not exist.`,
    );
  });

  it('client list: returns every client once, page by page', async () => {
    const seen: string[] = [];
    let after: string | null = '';
    while (after !== null) {
      const page = await given.operator.run('client list', { limit: '2', after });
      expect(page.clients.length).toBeLessThanOrEqual(2);
      seen.push(...page.clients.map(({ client_id }: { client_id: string }) => client_id));
      after = page.next;
    }
    expect(seen).toContain(given.server.people.dashboard.client_id);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('client create', () => {
  const warehouse = {
    name: 'Warehouse',
    id: 'warehouse',
    'redirect-uri': [thirdPartyRedirect],
    confidential: true,
  };
  const count = async () =>
    (await written({ client: warehouse.id })).filter(({ event }) => event === 'client_registered').length;

  it('changes nothing when it is repeated with the same options, and prints no secret', async () => {
    const first = await given.operator.run('client create', warehouse);
    expect(first).toEqual({ client_id: warehouse.id, client_secret: expect.any(String) });
    expect(await given.operator.run('client create', warehouse)).toEqual({ client_id: warehouse.id });
    expect(await count()).toBe(1);
    const app = await App.known(given.server, warehouse.id, thirdPartyRedirect, first.client_secret);
    await expect(app.signIn('openid')).resolves.toHaveProperty('tokens');
  });

  it.each([
    ['another name', { name: 'Stockroom' }],
    ['another redirect address', { 'redirect-uri': ['https://other.example/callback'] }],
    ['one more redirect address', { 'redirect-uri': [thirdPartyRedirect, 'https://other.example/callback'] }],
    ['--first-party', { 'first-party': true }],
    ['--resource-server', { 'resource-server': true }],
    ['no --confidential', { confidential: false }],
  ])('with an existing id and %s is an error, and the client stays unchanged', async (_, other) => {
    await given.operator.run('client create', warehouse);
    await expect(given.operator.run('client create', { ...warehouse, ...other })).rejects.toThrow(
      'The client warehouse already exists with different values.',
    );
    expect(await given.operator.run('client create', warehouse)).toEqual({ client_id: warehouse.id });
    expect(await count()).toBe(1);
  });

  it('rejects the reserved id of the account pages', async () => {
    await expect(
      given.operator.run('client create', {
        name: 'Evil',
        id: 'account',
        'redirect-uri': ['https://evil.example/'],
      }),
    ).rejects.toThrow('is reserved for the account pages');
  });
});
