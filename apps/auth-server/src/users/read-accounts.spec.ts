import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { newUser } from '../test/users.fixture.js';
import { ReadAccounts } from './read-accounts.js';

startServer();

const setPasswordChange = testStatement(
  'UPDATE users SET password_changed_at = coalesce(to_timestamp($2::float8), now()) WHERE id = $1',
);

describe('a sign-in', () => {
  it('is expired by a password change later in the same second, and not by one earlier in it', async () => {
    const accounts = new ReadAccounts(server.database, server.config);
    const { user_id: id } = await newUser(server);
    await server.database.run(setPasswordChange, [id, null]);
    const credentials = await accounts.credentials(id);
    const verified = credentials && (await accounts.confirmSignIn(credentials));
    const signInTime = verified?.passwordVerifiedAt ?? 0;
    expect(await accounts.isSignInExpired(id, signInTime)).toBe(false);
    await server.database.run(setPasswordChange, [id, signInTime + 0.5]);
    expect(await accounts.isSignInExpired(id, signInTime)).toBe(true);
  });
});
