import type { ServiceName } from '@fulfilment/contracts/permissions';
import { rollOut } from './roll-out.ts';

/** A fake suite that records changes, and whose load fails after one of them. */
class FakeSuite {
  readonly changes: string[] = [];
  private readonly failsAt: string | undefined;

  constructor(failsAt?: string) {
    this.failsAt = failsAt;
  }

  migrate(service: ServiceName): Promise<void> {
    this.changes.push(`migrate ${service}`);
    return Promise.resolve();
  }

  replace(service: ServiceName): Promise<void> {
    this.changes.push(`replace ${service}`);
    return Promise.resolve();
  }

  async underLoad(change: () => Promise<void>): Promise<void> {
    await change();
    if (this.changes.at(-1) === this.failsAt) throw new Error('An order was lost.');
  }
}

describe('a roll-out', () => {
  it('migrates each service before it replaces its process', async () => {
    const suite = new FakeSuite();
    const outcomes = await rollOut(['store-api', 'auth-server'], suite);
    expect(suite.changes).toEqual([
      'migrate store-api',
      'replace store-api',
      'migrate auth-server',
      'replace auth-server',
    ]);
    expect(outcomes.get('store-api')).toEqual({ schema: [], mixed: [] });
  });

  // schema: failures after the migration; mixed: after the replacement, next to services of the last release.
  it.each([
    ['migrate store-api', { schema: [expect.stringContaining('An order was lost.')], mixed: [] }],
    ['replace store-api', { schema: [], mixed: [expect.stringContaining('An order was lost.')] }],
  ])('reports a failure at "%s", and does not continue with the next service', async (failsAt, expected) => {
    const suite = new FakeSuite(failsAt);
    const outcomes = await rollOut(['store-api', 'auth-server'], suite);
    expect([...outcomes]).toEqual([['store-api', expected]]);
  });
});
