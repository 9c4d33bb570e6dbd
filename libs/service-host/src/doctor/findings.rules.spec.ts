import {
  clockFindings,
  clusterFindings,
  redisFindings,
  sentinelFindings,
  versionFindings,
} from './findings.rules.js';

describe('the doctor', () => {
  it.each([
    ['15.4 (Debian 15.4-1)', [15], 0],
    ['14.9', [15], 1],
    ['3.10.0', [3, 10], 0],
    ['3.9.13', [3, 10], 1],
    ['4.1.2', [3, 10], 0],
    ['2.12', [3, 10], 1],
    ['3', [3, 1], 1],
  ])('compares the version %s with the minimum %j, and has %i findings', (version, min, count) => {
    expect(versionFindings('The store', version, min)).toHaveLength(count);
  });

  it('accepts a clock that differs by a second, in either direction', () => {
    expect(clockFindings('Redis', { storeMs: 10_000, nowMs: 9_000 })).toEqual([]);
    expect(clockFindings('Redis', { storeMs: 9_000, nowMs: 10_000 })).toEqual([]);
    const [finding] = clockFindings('Redis', { storeMs: 9_000, nowMs: 10_001 });
    expect(finding?.problem).toContain('1001 ms');
  });

  it('accepts Redis only if it is a primary of version 7 that deletes no keys', () => {
    const good = {
      redis_version: '7.0.15',
      maxmemory_policy: 'noeviction',
      role: 'master',
      cluster_enabled: '0',
    };
    const findings = (changes: Partial<typeof good>) =>
      redisFindings(
        Object.entries({ ...good, ...changes })
          .map(([name, value]) => `${name}:${value}\r\n`)
          .join(''),
      );
    expect(findings({})).toEqual([]);
    for (const change of [
      { redis_version: '6.2.1' },
      { maxmemory_policy: 'allkeys-lru' },
      { role: 'slave' },
      { cluster_enabled: '1' },
    ])
      expect(findings(change)).toHaveLength(1);
  });

  it('expects that three Sentinels, if any are configured, respond and name the same primary', () => {
    const reply = (sentinel: string, primary?: string) => ({ sentinel, primary });
    const [one, two, three] = [reply('a:1', 'p:1'), reply('b:1', 'p:1'), reply('c:1', 'p:1')] as const;
    const problems = (...replies: Parameters<typeof sentinelFindings>[0]) =>
      sentinelFindings(replies).map(({ problem }) => problem);
    expect(problems()).toEqual([]);
    expect(problems(one, two, three)).toEqual([]);
    expect(problems(one)).toEqual([expect.stringContaining('too few Sentinels: 1')]);
    expect(problems(one, two)).toEqual([expect.stringContaining('too few Sentinels: 2')]);
    expect(problems(one, two, reply('c:1', 'q:1'))).toEqual([expect.stringContaining('p:1, q:1')]);
    expect(problems(one, two, reply('c:1'))).toEqual([
      expect.stringContaining('do not know the primary: c:1'),
    ]);
    expect(problems(one, two, { sentinel: 'c:1', error: 'refused' })).toEqual([
      expect.stringContaining('c:1 (refused)'),
    ]);
  });

  it('expects that all nodes of RabbitMQ are usable and belong to one cluster', () => {
    expect(clusterFindings([], ['suite'])).toEqual([]);
    expect(clusterFindings(['b:5672: refused'], ['suite'])[0]?.problem).toContain('b:5672');
    expect(clusterFindings([], ['suite', 'other'])[0]?.problem).toContain('suite, other');
  });
});
