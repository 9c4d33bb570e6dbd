import { storeUrl } from '@fulfilment/testing';
import { checkExternal } from './external.ts';

describe('a store given by the environment', () => {
  it('is accepted if it responds, and otherwise rejected with the reason why it cannot be used', async () => {
    const url = new URL(storeUrl('TEST_REDIS_URL'));
    await checkExternal({ name: 'redis', url: url.href, processes: [] });
    url.password = 'wrong';
    await expect(checkExternal({ name: 'redis', url: url.href, processes: [] })).rejects.toThrow(
      /^The redis given in REDIS_URL cannot be used: WRONGPASS/,
    );
  });
});
