import { eventually, sendConcurrently, fetchTrusting } from '@fulfilment/testing';
import { App } from '../test/app.fixture.js';
import { auditRecords } from '../test/audit-records.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { isActive, isDenied } from '../test/token-states.fixture.js';

startServer();

const refreshForm = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token });
/**
 * Concurrent requests are sent to the server directly, since the gateway may spread them over time. Their
 * order varies, so the tests run several rounds.
 */
const sendTokenRequests = async (app: App, count: number, form: Readonly<Record<string, string>>) => {
  const responses = await sendConcurrently(server.direct, count, {
    openingPath: '/api/auth/jwks',
    path: '/api/auth/oauth2/token',
    form: { client_id: app.clientId, ...form },
  });
  return responses.map(({ status, text }) => ({ status, body: JSON.parse(text) }));
};

describe('concurrent use of a code or refresh token (RFC 6749 §4.1.2, ADR 10)', () => {
  it('lets exactly one of 16 concurrent exchanges through the gateway succeed', async () => {
    const app = await App.register(server);
    for (let round = 0; round < 5; round += 1) {
      const { exchangeForm } = await app.authorize('orders:read');
      const responses = await Promise.all(Array.from({ length: 16 }, () => app.post('token', exchangeForm)));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(responses.filter(({ status }) => status === 400)).toHaveLength(15);
    }
  });

  it.each([4, 8, 16])(
    'lets exactly one of %i concurrent exchanges succeed, and its tokens stay valid',
    async (count) => {
      const app = await App.register(server);
      for (let round = 0; round < 10; round += 1) {
        const { exchangeForm } = await app.authorize('orders:read offline_access');
        const responses = await sendTokenRequests(app, count, exchangeForm);
        expect(responses.map(({ status }) => status).toSorted()).toEqual([
          200,
          ...Array(count - 1).fill(400),
        ]);
        const winner = responses.find(({ status }) => status === 200);
        expect(await isActive(app, winner?.body.access_token)).toBe(true);
        const refreshed = await app.refresh(winner?.body.refresh_token);
        expect(await isActive(app, refreshed.access_token)).toBe(true);
      }
      const lost = await auditRecords(server, { clientId: app.clientId, event: 'token_race_lost' });
      expect(lost).toHaveLength(10 * (count - 1));
      // Each round creates one family.
      expect(new Set(lost.map(({ details }) => details['grant_id'])).size).toBe(10);
    },
  );

  it('lets exactly one of four concurrent refreshes succeed, with a refresh token that works', async () => {
    const app = await App.register(server);
    let refreshToken = (await app.signIn('orders:read offline_access')).tokens.refresh_token ?? '';
    for (let round = 0; round < 10; round += 1) {
      const responses = await sendTokenRequests(app, 4, refreshForm(refreshToken));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
      expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(3);
      refreshToken = responses.find(({ status }) => status === 200)?.body.refresh_token;
    }
  });

  it('treats a request as a race if its connection was opened before the winner’s response, else as a replay', async () => {
    const app = await App.register(server);
    const repeat = (used: string, age: string) =>
      fetch(`${server.direct}/api/auth/oauth2/token`, {
        method: 'POST',
        headers: { 'x-connection-age': age }, // set by the gateway
        body: new URLSearchParams({ client_id: app.clientId, ...refreshForm(used) }),
      });
    // A connection that is 0.9 s old was opened before the winner's response only if both requests took less.
    // Half of that leaves a margin.
    const { used, winner, race } = await eventually(async () => {
      const { refresh_token: used = '' } = (await app.signIn('orders:read offline_access')).tokens;
      const startedAtMs = performance.now();
      const winner = await app.refresh(used);
      const race = await repeat(used, '0.900');
      const wereFast = performance.now() - startedAtMs < 450;
      return wereFast ? { used, winner, race } : undefined;
    });
    expect(race.status).toBe(400);
    expect(await isActive(app, winner.access_token)).toBe(true);
    expect((await repeat(used, '0.000')).status).toBe(400);
    expect(await isActive(app, winner.access_token)).toBe(false);
  });
});

describe('reuse (RFC 9700 §4.14.2)', () => {
  it('is detected right after the response, over a new connection through the gateway', async () => {
    const app = await App.register(server);
    for (let round = 0; round < 25; round += 1) {
      const { refresh_token: used = '' } = (await app.signIn('orders:read offline_access')).tokens;
      const winner = await app.refresh(used);
      const newConnection = fetchTrusting(server.ca);
      const replayed = await newConnection.fetch(`${server.url}/api/auth/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: app.clientId, ...refreshForm(used) }),
      });
      expect(replayed.status).toBe(400);
      await newConnection.close();
      expect(await isActive(app, winner.access_token)).toBe(false);
    }
  });

  it('immediately ends the family of a refresh token, and no other family of the same person and app', async () => {
    const app = await App.register(server);
    const { tokens: first, browser } = await app.signIn('orders:read offline_access');
    const { tokens: other } = await app.signIn('orders:read offline_access', { browser });
    const second = await app.refresh(first.refresh_token ?? '');
    await expect(app.refresh(first.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(app.refresh(second.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    for (const ended of [first, second]) {
      expect(await isActive(app, ended.access_token)).toBe(false);
      expect(await isDenied(ended.access_token)).toBe(true);
    }
    expect(await isActive(app, other.access_token)).toBe(true);
    await expect(app.refresh(other.refresh_token ?? '')).resolves.toHaveProperty('access_token');
  });

  it('of a code ends the tokens of its exchange, and is audited with the user (RFC 6749 §4.1.2)', async () => {
    const app = await App.register(server);
    const { tokens, exchangeForm } = await app.signIn('orders:read offline_access');
    const repeated = await app.post('token', exchangeForm);
    expect(repeated.status).toBe(400);
    expect(await repeated.json()).toMatchObject({ error: 'invalid_grant' });
    expect(await isActive(app, tokens.access_token)).toBe(false);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(await auditRecords(server, { clientId: app.clientId, event: 'token_family_ended' })).toMatchObject(
      [{ email: 'owner@harbour.example' }],
    );
  });
});
