import { describe, expect, it } from '@jest/globals';
import { hashPassword, verifyPassword } from './passwords.js';

const timed = async (work: () => Promise<unknown>) => {
  const from = performance.now();
  await work();
  return performance.now() - from;
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
    const maxMs = 50;
    let minMs = Infinity; // other programs can make a single run slower
    for (let round = 0; round < 10 && minMs >= maxMs; round += 1) {
      const started = process.threadCpuUsage();
      expect(await verifyPassword(marks, stored)).toBe(false);
      await expect(hashPassword(marks)).rejects.toThrow(RangeError);
      const { user, system } = process.threadCpuUsage(started);
      minMs = Math.min(minMs, (user + system) / 1_000);
    }
    expect(minMs).toBeLessThan(maxMs);
  });

  it.each(['x', '🎸'])(
    'have at most 1024 code points, and a longer one is not truncated: %s',
    async (sign) => {
      const longest = sign.repeat(1024);
      const stored = await hashPassword(longest);
      expect(await verifyPassword(longest, stored)).toBe(true);
      expect(await verifyPassword(`${longest}${sign}`, stored)).toBe(false);
      // A longer one is hashed as an empty password, to take as long, but matches nothing.
      expect(await verifyPassword(`${longest}${sign}`, await hashPassword(''))).toBe(false);
    },
  );

  it('take a similar time to verify without a user as with a wrong password', async () => {
    const stored = await hashPassword('secret');
    await verifyPassword('warm up', stored);
    const times = { known: Infinity, unknown: Infinity };
    const isSimilar = () => times.unknown > times.known / 4 && times.unknown < times.known * 4;
    for (let round = 0; round < 20 && (round < 5 || !isSimilar()); round += 1) {
      times.known = Math.min(times.known, await timed(() => verifyPassword('wrong', stored)));
      times.unknown = Math.min(times.unknown, await timed(() => verifyPassword('wrong', undefined)));
    }
    // Without the hashing for an unknown user it would be below 0.01.
    expect(times.unknown / times.known).toBeGreaterThan(0.25);
    expect(times.unknown / times.known).toBeLessThan(4);
  });
});
