import { retryWhileLocked, unitsEnabledBy } from './debian-packages.ts';

const locked = {
  code: 100,
  output:
    'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\nE: Unable to lock directory',
};
const installed = { code: 0, output: '' };
const limits = { timeoutMs: 10_000, retryDelayMs: 1 };

describe('the installation of Debian packages', () => {
  it('is repeated while another program locks the package lists', async () => {
    const outcomes = [locked, locked, installed];
    expect(await retryWhileLocked(() => Promise.resolve(outcomes.shift() ?? installed), limits)).toBe(
      installed,
    );
    expect(outcomes).toEqual([]);
  });

  it('is not repeated after another error', async () => {
    const missing = { code: 100, output: 'E: Unable to locate package nginx-light' };
    const outcomes = [missing, installed];
    expect(await retryWhileLocked(() => Promise.resolve(outcomes.shift() ?? installed), limits)).toBe(
      missing,
    );
  });

  it('ends with the outcome of the last attempt when the lock is not released in time', async () => {
    const run = (): Promise<typeof locked> => Promise.resolve(locked);
    expect(await retryWhileLocked(run, { timeoutMs: 0, retryDelayMs: 1 })).toBe(locked);
  });
});

describe('unitsEnabledBy', () => {
  it('returns only the units of the given packages', () => {
    expect(unitsEnabledBy(['redis-server', 'openssl'])).toEqual(['redis-server.service']);
  });
});
