import { ExhaustedNetworks } from './exhausted-networks.js';

const decision = { allowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 2 };

describe('ExhaustedNetworks', () => {
  let nowMs: number;
  let networks: ExhaustedNetworks;
  beforeEach(() => {
    nowMs = 0;
    networks = new ExhaustedNetworks(() => nowMs);
  });
  const countAllowed = (address: string, times: number) =>
    Array.from({ length: times }, () => networks.countSignatureCheck(address)).filter(
      (rejection) => rejection === undefined,
    ).length;

  it('allows every signature check of a network with quota left', () => {
    expect(countAllowed('198.51.100.1', 100)).toBe(100);
  });

  it('allows five signature checks until the quota has a request again, however often it is exhausted during that time', () => {
    networks.add('198.51.100.1', decision);
    expect(countAllowed('198.51.100.1', 3)).toBe(3);
    networks.add('198.51.100.1', decision);
    expect(countAllowed('198.51.100.1', 100)).toBe(2);
    expect(networks.countSignatureCheck('198.51.100.1')).toBe(decision);
    nowMs = 1_999;
    expect(countAllowed('198.51.100.1', 100)).toBe(0);
    nowMs = 2_000;
    expect(countAllowed('198.51.100.1', 100)).toBe(100);
  });

  it('counts the addresses of an IPv6 /64 together, and other networks not at all', () => {
    networks.add('2001:db8:1:2::1', decision);
    expect(countAllowed('2001:db8:1:2::2', 100)).toBe(5);
    expect(countAllowed('2001:db8:1:3::1', 100)).toBe(100);
  });
});
