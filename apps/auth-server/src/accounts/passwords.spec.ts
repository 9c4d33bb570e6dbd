import { hashPassword, verifyPassword } from './passwords.js';

/** Measures processor time, since the duration also depends on other processes. */
const processorMs = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

describe('passwords', () => {
  it('are hashed by argon2id, each with its own salt', async () => {
    const [one, two] = await Promise.all([hashPassword('secret'), hashPassword('secret')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword('secret', one)).toBe(true);
    expect(await verifyPassword('Secret', one)).toBe(false);
  });

  it('match when they are typed in another Unicode composition', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('are rejected by their length before they are normalised', async () => {
    const stored = await hashPassword('secret');
    const marks = '\u0301'.repeat(65_000) + '\u0316'.repeat(65_000);
    const limitMs = 50; // processor time of this thread, which would normalise; argon2 runs in another one
    let fastestMs = Infinity; // of several rounds, since other programs can slow down a single one
    for (let round = 0; round < 10 && fastestMs >= limitMs; round += 1) {
      const started = process.threadCpuUsage();
      expect(await verifyPassword(marks, stored)).toBe(false);
      await expect(hashPassword(marks)).rejects.toThrow(RangeError);
      const { user, system } = process.threadCpuUsage(started);
      fastestMs = Math.min(fastestMs, (user + system) / 1_000);
    }
    expect(fastestMs).toBeLessThan(limitMs);
  });

  it.each(['x', '🎸'])(
    'have at most 1024 code points, and a longer one is not truncated: %s',
    async (sign) => {
      const longest = sign.repeat(1024);
      const stored = await hashPassword(longest);
      expect(await verifyPassword(longest, stored)).toBe(true);
      expect(await verifyPassword(`${longest}${sign}`, stored)).toBe(false);
      // For the same duration, an empty password is hashed in place of a longer one, but it never matches.
      expect(await verifyPassword(`${longest}${sign}`, await hashPassword(''))).toBe(false);
    },
  );

  it('take similar work to verify without a user as with a wrong password', async () => {
    const stored = await hashPassword('secret');
    await verifyPassword('warm up', stored);
    let known = 0;
    let unknown = 0;
    for (let round = 0; round < 5; round += 1) {
      known += await processorMs(() => verifyPassword('wrong', stored));
      unknown += await processorMs(() => verifyPassword('wrong', undefined));
    }
    // Without the hashing for an unknown user, the ratio would be below 0.01.
    expect(unknown / known).toBeGreaterThan(0.25);
    expect(unknown / known).toBeLessThan(4);
  });
});
