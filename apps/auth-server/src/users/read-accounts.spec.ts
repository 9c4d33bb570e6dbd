import { blocksRead, executedPlan } from '@fulfilment/database/testing';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { newUser } from '../test/users.fixture.js';
import { listCreators, ReadAccounts } from './read-accounts.js';

startServer();

const setPasswordChange = testStatement(
  'UPDATE users SET password_changed_at = coalesce(to_timestamp($2::float8), now()) WHERE id = $1',
);
const insertCreators = testStatement(
  `INSERT INTO creators (id, organisation_id, payment_terms_accepted, tax_interview_completed, settlement_currency, registered_at)
   SELECT gen_random_uuid(), 'org_harbour', true, true, 'GBP', now() + n * interval '1 second' FROM generate_series(1, 20000) n`,
);
const analyseCreators = testStatement('ANALYZE creators');

describe('the creators that a user may act for', () => {
  it('are at most 200, and those of a large organisation are not all read', async () => {
    const { user_id: id } = await newUser(server);
    await server.database.run(insertCreators);
    await server.database.run(analyseCreators);
    const [root] = await executedPlan(server.database, listCreators, [id]);
    expect(root).toMatchObject({ 'Actual Rows': 200 });
    expect(blocksRead(root)).toBeLessThan(60); // all creators of the organisation have hundreds
  });
});

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
