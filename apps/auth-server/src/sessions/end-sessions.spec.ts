import { startWhileLocked } from '@fulfilment/database/testing';
import { endAccessOfClient } from '../tokens/families.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { newUser } from '../test/users.fixture.js';
import { endOtherAccess } from './end-sessions.js';

startServer();

const clientId = 'dashboard-of-this-test';
/** The family with `offline_access` has the lower id. */
const [offlineGrant, sessionGrant] = ['grant-1', 'grant-2'];
const insertRows = testStatement(
  `INSERT INTO oidc_model (model, id, account_id, client_id, session_uid, grant_id, payload) VALUES
     ('Client', '${clientId}', NULL, NULL, NULL, NULL, '{"first_party": "true"}'),
     ('Session', 'session', $1, NULL, 'session', NULL, '{}'),
     ('Grant', '${offlineGrant}', $1, '${clientId}', NULL, NULL, '{"openid": {"scope": "openid offline_access"}}'),
     ('Grant', '${sessionGrant}', $1, '${clientId}', NULL, NULL, '{"openid": {"scope": "openid"}}'),
     ('AccessToken', 'token', $1, '${clientId}', 'session', '${sessionGrant}', '{}')`,
);
const lockGrant = testStatement(`SELECT FROM oidc_model WHERE model = 'Grant' AND id = $1 FOR UPDATE`);
const readGrants = testStatement(`SELECT id FROM oidc_model WHERE model = 'Grant' AND account_id = $1`);

describe('the end of all other first-party access of a person', () => {
  it('ends the families of sessions and those with offline access, and cannot deadlock with the end of a client', async () => {
    const { user_id: id } = await newUser(server);
    await server.database.run(insertRows, [id]);
    await startWhileLocked(
      server.database,
      (tx) => tx.run(lockGrant, [offlineGrant]),
      () => server.database.transaction((tx) => endAccessOfClient(tx, clientId)),
      () => server.database.transaction((tx) => endOtherAccess(tx, id, { sessionUid: undefined })),
    );
    expect(await server.database.rows(readGrants, [id])).toEqual([]);
  });
});
