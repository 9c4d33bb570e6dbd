import { ReadDatabase, statement } from '@fulfilment/database';
import { NotFound } from '@fulfilment/error-envelope';
import { creatorApi, type CreatorApi, globalAdminClaims } from '../test/creator-api.fixture.js';
import { aMember, globalAdmin } from './caller.fixture.js';
import { selectCreator } from './select-creator.js';
import { harbourCreator, meridianCreator, recordTwoOrganisations } from './two-organisations.fixture.js';
import { Visibility } from './visibility.js';

describe('row-level security', () => {
  let api: CreatorApi;
  let visibility: Visibility;
  beforeAll(async () => {
    api = await creatorApi();
    visibility = new Visibility(api.database, new ReadDatabase(api.database));
    await recordTwoOrganisations(api);
  });
  afterAll(() => api.stop());

  it('hides the rows of foreign creators in each table from a query without a condition', async () => {
    for (const { id: creator } of [harbourCreator, meridianCreator]) {
      const release = { title: 'Tidal Maps', release_type_id: 1, creator };
      await api.post('/api/v1/releases', globalAdminClaims, release, { 'idempotency-key': 'one-key' });
    }
    for (const table of [
      'orders',
      'order_items',
      'order_counts',
      'monthly_statistics',
      'monthly_breakdown',
      'order_events',
      'ledger',
      'order_counts_by_app',
      'monthly_app_breakdown',
      'creator_apps',
      'statements',
      'order_feed_entries',
      'editions',
      'ordered_releases',
      'track_uploads',
      'idempotency_keys',
    ]) {
      const owners = statement(`test.${table}`, `SELECT DISTINCT creator_id FROM ${table}`);
      const seen = await visibility.transaction(aMember, (tx) => tx.rows(owners));
      expect(seen).toEqual([{ creator_id: harbourCreator.id }]);
      expect((await api.database.rows(owners)).length).toBeGreaterThan(1);
    }
  });

  it.each([
    'statistics_close',
    'exchange_rate_source',
    'waiting_postings',
    'order_feeds',
    'exchange_rates',
    'inbox',
    'inbox_other_days',
    'inbox_dropped',
    'outbox',
  ])('does not let requests read %s', async (table) => {
    const all = statement(`test.all-${table}`, `SELECT * FROM ${table}`);
    await expect(visibility.transaction(globalAdmin, (tx) => tx.rows(all))).rejects.toThrow(
      'permission denied',
    );
  });

  it('does not let a caller select a foreign creator', async () => {
    const creatorsOfOrders = statement('test.creators-of-orders', 'SELECT DISTINCT creator_id FROM orders');
    const seen = await visibility.transaction(aMember, async (tx) => {
      await expect(selectCreator(tx, meridianCreator.id)).rejects.toThrow(NotFound);
      return tx.rows(creatorsOfOrders);
    });
    expect(seen).toEqual([{ creator_id: harbourCreator.id }]);
  });

  it('leaves no role, organisation or creator on a pooled connection', async () => {
    const readIdentity = statement(
      'test.identity',
      `SELECT current_user AS name, current_setting('suite.organisation_id', true) AS org,
         COALESCE(current_setting('suite.creator_id', true), '') AS creator`,
    );
    const identities = await Promise.all(Array.from({ length: 30 }, () => api.database.row(readIdentity)));
    for (const identity of identities) {
      expect(identity).not.toMatchObject({ name: 'creator_api_member' });
      expect(identity).not.toMatchObject({ org: 'org_harbour' });
      expect(identity).toMatchObject({ creator: '' });
    }
  });
});
