import { createStoreClient } from '@fulfilment/client/store';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSuite, type LocalServer } from './fake-suite.fixture.js';
import { type Operate, trigger } from './trigger.js';

let suite: FakeSuite & LocalServer;
beforeEach(async () => {
  suite = await FakeSuite.start();
});
afterEach(() => suite.stop());

function run(event: string, operate?: Operate): Promise<void> {
  const client = createStoreClient({ baseUrl: `${suite.url}/store`, auth: 'valid' });
  const terminal = { result: () => undefined, note: () => undefined };
  return trigger([event], { client, operate, product: undefined }, terminal, true);
}

describe('trigger', () => {
  it.each(['order.shipped', 'order.payment_failed', 'product.in_stock'])(
    'requires a development suite before it causes a part of %s',
    async (event) => {
      await expect(run(event)).rejects.toThrow('name the folder of its clone with --clone');
      expect(suite.requests).toEqual([]);
    },
  );

  it('restores the payment method if no order can be placed', async () => {
    const commands: string[] = [];
    const operate = (...command: readonly string[]) => Promise.resolve(void commands.push(command.join(' ')));
    await expect(run('order.payment_failed', operate)).rejects.toThrow('NOT_FOUND');
    expect(commands).toEqual([
      'creator payment-method cr_1 pm_declined',
      'creator payment-method cr_1 pm_ok',
    ]);
  });
});
