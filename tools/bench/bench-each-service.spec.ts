import { benchEachService } from './bench-each-service.ts';
import { figure } from './figures.ts';

const benches = {
  'store-api': () => Promise.resolve([figure('orders', [1], 'x')]),
  'webhook-worker': () => Promise.resolve([figure('deliveries', [2], 'x')]),
};

describe('benchEachService', () => {
  it('measures all services, or only the selected one', async () => {
    expect(await benchEachService(benches, undefined)).toHaveLength(2);
    expect(await benchEachService(benches, 'webhook-worker')).toEqual([figure('deliveries', [2], 'x')]);
  });

  it('rejects a service that has no benchmark, and names those that have one', async () => {
    await expect(benchEachService(benches, 'auth-server')).rejects.toThrow(
      '--service must be one of store-api, webhook-worker.',
    );
  });
});
