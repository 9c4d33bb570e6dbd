import { migrate, createDataSource, statement } from '@fulfilment/database';
import { migrationFaults, scratchDatabase } from '@fulfilment/database/testing';
import { StripeKeys1764000000021 } from './0021-stripe-keys.js';
import { migrations } from './index.js';

const insertCharge = statement(
  'test.insert-charge',
  `WITH placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                         rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount)
     VALUES (gen_random_uuid(), gen_random_uuid(), 'c', 'pending', 'api', 's', 'e', 'GBP', 1, 1, gen_random_uuid(), 1, '{}', 'GB',
             'card', 'pending', 1) RETURNING id
   )
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, key_number, key_spent_at, spent_customer)
   SELECT gen_random_uuid(), id, 1, 1, 'GBP', 'pm', 'pending', $1, '2026-11-01T00:00:00Z', 'cus_1' FROM placed`,
);
const stripeKeys = statement(
  'test.stripe-keys',
  'SELECT key_number, unusable_since, customer FROM stripe_keys',
);

const before = migrations.slice(0, migrations.indexOf(StripeKeys1764000000021));

describe('the migrations', () => {
  it('block no concurrent read or write for long', async () => {
    expect(await migrationFaults(migrations)).toEqual([]);
  }, 180_000);

  it('keep the state of unusable keys that an earlier release stored with its charges', async () => {
    const stores = await scratchDatabase(before);
    const source = createDataSource({
      url: stores.url,
      poolSize: 2,
      applicationName: 'migrations',
      migrations,
    });
    try {
      await stores.database.run(insertCharge, [2]);
      await migrate(await source.initialize());
      expect(await stores.database.rows(stripeKeys)).toEqual([
        { key_number: 2, unusable_since: new Date('2026-11-01T00:00:00Z'), customer: 'cus_1' },
      ]);
    } finally {
      await source.destroy();
      await stores.drop();
    }
  });
});
