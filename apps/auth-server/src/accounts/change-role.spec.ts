import { startWhileLocked } from '@fulfilment/database/testing';
import { jest } from '@jest/globals';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { App } from '../test/app.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { isDenied } from '../test/token-states.fixture.js';
import { newUser } from '../test/users.fixture.js';

startServerWithOperator();

/** The command waits for this lock when it ends the access tokens, after it has locked their Grants. */
const lockTokens = testStatement(
  `SELECT 1 FROM oidc_model WHERE model = 'AccessToken' AND client_id = $1 FOR UPDATE`,
);

describe('a new role', () => {
  it('makes a refresh in progress fail with 503, which is not logged as an error, and its retry return a token with the new role', async () => {
    const { email } = await newUser(server);
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    const refresh = () =>
      app.post('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' });
    const logError = jest.spyOn(server.oidc.logger, 'error');
    const role = { USER: email, role: 'admin', organisation: 'org_harbour' };
    const [, response] = await startWhileLocked(
      server.database,
      (tx) => tx.run(lockTokens, [app.clientId]),
      () => runCommand('user role', role),
      refresh, // reads the old role, and waits for the Grant
    );
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(logError).not.toHaveBeenCalled();
    logError.mockRestore();
    const retried = z.object({ access_token: z.string() }).parse(await (await refresh()).json());
    expect(decodeJwt(retried.access_token)).toMatchObject({ org_role: 'admin' });
  });

  it('ends all tokens of a person who becomes a global admin', async () => {
    const { email } = await newUser(server, {}); // in no organisation
    const dashboard = await App.dashboard(server);
    const { tokens } = await dashboard.signIn('openid offline_access', { email });
    await runCommand('user role', { USER: email, role: 'global_admin' });
    await expect(dashboard.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(await isDenied(tokens.access_token)).toBe(true);
  });
});
