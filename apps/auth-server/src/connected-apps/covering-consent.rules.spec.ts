import { coveringConsent } from './covering-consent.rules.js';

describe('a remembered consent', () => {
  const narrow = { creator_id: 'a', scopes: ['orders:read'] };
  const wide = { creator_id: 'b', scopes: ['orders:read', 'orders:create'] };

  it('covers what was allowed, and nothing more', () => {
    expect(coveringConsent([narrow], ['orders:read'])).toBe(narrow);
    expect(coveringConsent([narrow], ['orders:read', 'orders:create'])).toBeUndefined();
  });

  it('is used only if exactly one consent covers the request', () => {
    expect(coveringConsent([narrow, wide], ['orders:read'])).toBeUndefined();
    expect(coveringConsent([narrow, wide], ['orders:create'])).toBe(wide);
  });
});
