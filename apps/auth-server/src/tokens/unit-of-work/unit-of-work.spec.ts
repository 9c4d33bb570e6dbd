import { startWhileLocked } from '@fulfilment/database/testing';
import { metrics } from '@fulfilment/runtime';
import { App, register } from '../../test/app.fixture.js';
import { auditEventsOf, auditRecords } from '../../test/audit-records.fixture.js';
import { json } from '../../test/json.fixture.js';
import { rejectRows } from '../../test/reject-rows.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';
import { testStatement } from '../../test/test-statement.fixture.js';

startServer();

const lockRefreshToken = testStatement(
  `SELECT 1 FROM oidc_model WHERE model = 'RefreshToken' AND client_id = $1 FOR UPDATE`,
);
const eventsOf = (clientId: string) => auditEventsOf(server, { clientId });

/** Makes audit records of an event fail while the work runs. */
const rejectRecordsOf = (event: string, work: () => Promise<void>) =>
  rejectRows(server.database, { table: 'audit_log', condition: `NEW.event = '${event}'` }, work);

describe('audit records', () => {
  it('of an exchange are stored with its tokens or not at all, and a code whose exchange failed stays valid', async () => {
    const app = await App.register(server);
    const { exchangeForm } = await app.authorize('orders:read offline_access');
    const exchange = () => app.post('token', exchangeForm);
    await rejectRecordsOf('token_issued', async () => {
      expect((await exchange()).status).toBe(500);
    });
    expect(await eventsOf(app.clientId)).not.toContain('token_issued');
    expect((await exchange()).status).toBe(200);
    expect(await eventsOf(app.clientId)).toContain('token_issued');
  });

  it('of a lost race and an ended family are written before the response', async () => {
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access');
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const refresh = () => app.post('token', form);
    // All arrive before the first response.
    const responses = await startWhileLocked(
      server.database,
      (tx) => tx.run(lockRefreshToken, [app.clientId]),
      ...[refresh, refresh, refresh],
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const records = await auditRecords(server, { clientId: app.clientId });
    const family = records.find(({ event }) => event === 'token_issued')?.details['grant_id'];
    expect(family).toEqual(expect.any(String));
    expect(records.filter(({ event }) => event === 'token_race_lost')).toEqual(
      [1, 2].map(() => ({
        event: 'token_race_lost',
        email: 'owner@harbour.example',
        details: { grant_id: family },
      })),
    );
    const winner = responses.find(({ status }) => status === 200);
    expect(winner === undefined ? undefined : await json(winner)).toHaveProperty('refresh_token');
    expect((await app.post('token', form)).status).toBe(400);
    expect((await eventsOf(app.clientId)).at(-1)).toBe('token_family_ended');
  });

  it('outside a unit of work do not fail the request, and a lost one is counted', async () => {
    const countLost = async () => {
      const metric = await metrics.getSingleMetric('audit_records_lost_total')?.get();
      return metric?.values.find(({ labels }) => labels['event'] === 'client_registered')?.value ?? 0;
    };
    const before = await countLost();
    await rejectRecordsOf('client_registered', async () => {
      expect((await register(server)).status).toBe(201);
    });
    expect(await countLost()).toBe(before + 1);
  });
});
