import { eventually } from '@fulfilment/testing';
import { App } from '../test/app.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { cleanupLock, deleteExpiredRecords } from './delete-expired-records.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer();

const run = (text: string, values: readonly unknown[] = []) =>
  server.database.run(testStatement(text), values);
/**
 * Deletes until no record has this id. A single call may delete nothing: the server, which deletes expired
 * records too, may hold the lock.
 */
const deleteUntilGone = (id: string) =>
  eventually(async () => {
    await deleteExpiredRecords(server.database);
    return (await run(`SELECT FROM oidc_model WHERE id = $1`, [id])) === 0;
  });

describe('deleteExpiredRecords', () => {
  it('deletes in batches, with the registration tokens of expired clients, and keeps a client that was authorized', async () => {
    const used = await App.register(server);
    await used.signIn('orders:read');
    const unused = await App.register(server);
    await run(
      `UPDATE oidc_model SET expires_at = expires_at - interval '31 days' WHERE expires_at IS NOT NULL AND id = ANY ($1)`,
      [[used.clientId, unused.clientId]],
    );
    await run(
      `INSERT INTO oidc_model (model, id, payload, expires_at)
       SELECT 'AccessToken', 'old-' || number, '{}', now() - interval '1 hour' FROM generate_series(1, 2500) AS number`,
    );
    const batches: number[] = [];
    const left = await eventually(async () => {
      batches.push(await deleteExpiredRecords(server.database));
      const rows = await server.database.rows<{ model: string; id: string }>(
        testStatement(
          `SELECT model, id FROM oidc_model WHERE id LIKE 'old-%' OR client_id = $1 OR id = ANY ($2)`,
        ),
        [unused.clientId, [used.clientId, unused.clientId]],
      );
      return rows.length <= 1 ? rows : undefined;
    });
    expect(left).toEqual([{ model: 'Client', id: used.clientId }]);
    // The server, which deletes expired records too, may have deleted some batches.
    expect(Math.max(...batches)).toBeLessThanOrEqual(1000);
  });

  it('deletes a client that was never authorized 30 days after its registration', async () => {
    const { clientId } = await App.register(server);
    const backdate = (interval: string) =>
      run(`UPDATE oidc_model SET expires_at = expires_at - $2::interval WHERE id = $1`, [clientId, interval]);
    await backdate('29 days 23 hours');
    await run(`INSERT INTO oidc_model (model, id, payload, expires_at)
      VALUES ('AccessToken', 'expired', '{}', now() - interval '1 hour')`);
    await deleteUntilGone('expired');
    expect(await run('SELECT FROM oidc_model WHERE id = $1', [clientId])).toBe(1);
    await backdate('2 hours');
    await deleteUntilGone(clientId);
  });

  it('deletes expired records of every model, and no token family in use', async () => {
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access');
    const models = [
      'AccessToken',
      'AuthorizationCode',
      'Grant',
      'Interaction',
      'PushedAuthorizationRequest',
      'RefreshToken',
      'ReplayDetection',
      'Session',
    ];
    await run(
      `INSERT INTO oidc_model (model, id, payload, consumed_at, expires_at)
       SELECT model, 'gone', '{}', now(), now() - interval '2 minutes' FROM unnest($1::text[]) AS model`,
      [models],
    );
    await deleteUntilGone('gone');
    await expect(app.refresh(tokens.refresh_token ?? '')).resolves.toHaveProperty('access_token');
  });

  it('deletes nothing while another replica holds the lock', async () => {
    await server.database.transaction(async (tx) => {
      await tx.run(testStatement(`SELECT pg_advisory_xact_lock(${cleanupLock})`));
      await run(`INSERT INTO oidc_model (model, id, payload, expires_at)
        VALUES ('AccessToken', 'later', '{}', now() - interval '2 minutes')`);
      expect(await deleteExpiredRecords(server.database)).toBe(0);
      expect(await run(`SELECT FROM oidc_model WHERE id = 'later'`)).toBe(1);
    });
    await deleteUntilGone('later');
  });
});
