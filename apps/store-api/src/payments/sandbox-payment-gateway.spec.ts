import { statement } from '@fulfilment/database';
import { setUpDatabase } from '../test/scratch.fixture.js';
import { SandboxPaymentGateway } from './sandbox-payment-gateway.js';

const insertCharges = statement(
  'test.insert-sandbox-charges',
  `INSERT INTO sandbox_charges (idempotency_key, amount, currency, payment_method, outcome)
   SELECT gen_random_uuid(), 1, 'GBP', 'pm_ok', 'succeeded' FROM generate_series(1, $1)`,
);

/** Behaviour of the sandbox only; payment-gateway.spec.ts tests the contract of every provider. */
describe('the sandbox payment gateway', () => {
  const scratch = setUpDatabase();

  it('lists payments in pages of at most 500, each payment once', async () => {
    await scratch.database.run(insertCharges, [1001]);
    const range = { from: new Date(0), to: new Date(Date.now() + 60_000) };
    const pages: string[][] = [];
    for await (const page of new SandboxPaymentGateway(scratch.database).listPayments(range))
      pages.push(page.map(({ chargeId }) => chargeId));
    expect(pages.map((page) => page.length)).toEqual([500, 500, 1]);
    expect(new Set(pages.flat()).size).toBe(1001);
  });
});
