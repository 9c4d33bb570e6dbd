import { eventually } from '@fulfilment/testing';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ApiClient } from '../suite/api-client.js';
import { type Merchant, newMember, newMerchant, storeScopes } from '../suite/merchant.js';
import { operate, runOps } from '../suite/operator.js';
import { dashboardToken, signIn, tokenRequest } from '../suite/sign-in.js';

/** A path of store-api, and one of webhook-worker. */
const storePaths = ['/store/v1/creator', '/store/v1/webhooks'];
/** A path of each service. */
const servicePaths = [...storePaths, '/creator/api/v1/creators', '/api/auth/oauth2/userinfo'];
const auditPage = z.object({
  events: z.array(z.object({ event: z.string(), ip: z.string().nullable() })),
  before: z.string().nullable(),
});
const statuses = (token: string, paths = servicePaths): Promise<number[]> =>
  Promise.all(paths.map(async (path) => (await new ApiClient(token).get(path)).status));
const signIns = (events: readonly { readonly event: string; readonly ip: string | null }[]) =>
  events.filter(({ event }) => event === 'signed_in');

describe('the operator commands for accounts', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await newMerchant();
  });

  it('`user disable` makes all four services reject the tokens of the user before it returns', async () => {
    const user = { email: `${randomBytes(6).toString('hex')}@merchant.example`, password: 'a good password' };
    await newMember(merchant.organisationId, user);
    const token = await dashboardToken(user, storeScopes);
    expect(await statuses(token)).toEqual([200, 200, 200, 200]);
    await operate(['user', 'disable', user.email]);
    // A service accepts one more request if Redis does not respond in time.
    await eventually(async () => (await statuses(token)).every((status) => status === 401), {
      timeoutMs: 10_000,
    });
    await expect(dashboardToken(user)).rejects.toThrow();
    await operate(['user', 'enable', user.email]);
    expect(await statuses(await dashboardToken(user, storeScopes))).toEqual([200, 200, 200, 200]);
  });

  it('`keys rotate` keeps old and new tokens valid at store-api and webhook-worker, also after three rotations', async () => {
    const { clientId: client_id } = merchant.app;
    const first = await signIn(merchant.owner, merchant.app, [...storeScopes, 'offline_access']);
    const tokens = [first.access_token];
    let refresh_token = first.refresh_token ?? '';
    for (let rotation = 0; rotation < 3; rotation += 1) {
      await operate(['keys', 'rotate']);
      const { body } = await tokenRequest({ grant_type: 'refresh_token', refresh_token, client_id }).expect(
        200,
      );
      const refreshed = z.object({ access_token: z.string(), refresh_token: z.string() }).parse(body);
      tokens.push(refreshed.access_token);
      refresh_token = refreshed.refresh_token;
      expect(await statuses(refreshed.access_token, storePaths)).toEqual([200, 200]);
    }
    for (const token of tokens) expect(await statuses(token, storePaths)).toEqual([200, 200]);
  });

  it('`audit` prints sign-ins with their addresses, as JSON and as a table', async () => {
    const { events } = auditPage.parse(
      await operate(['audit', '--user', merchant.owner.email, '--since', '1h']),
    );
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['user_created', 'token_issued']),
    );
    expect(signIns(events)[0]?.ip).toMatch(/^[0-9a-f.:]+$/);
    const { output } = await runOps(['audit', '--event', 'signed_in', '--limit', '3']);
    expect(output).toMatch(/^AT +EVENT +USER/);
    // The headings, three records, and the option for older ones.
    expect(output.trim().split('\n').length).toBeLessThanOrEqual(5);
  });
});
