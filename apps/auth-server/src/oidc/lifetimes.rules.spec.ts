import { familyLifetime, lifetimes, refreshTokenLifetime } from './lifetimes.rules.js';

const daySeconds = 24 * 3600;

it('a refresh extends the refresh token by 30 days, up to the 90 days of its family', () => {
  expect(refreshTokenLifetime(0, 0)).toBe(30 * daySeconds);
  expect(refreshTokenLifetime(0, 60 * daySeconds)).toBe(30 * daySeconds);
  expect(refreshTokenLifetime(0, 80 * daySeconds)).toBe(10 * daySeconds);
  expect(refreshTokenLifetime(0, 90 * daySeconds)).toBe(1);
  expect(refreshTokenLifetime(0, 91 * daySeconds)).toBe(1);
});

it('a token family lives as long as its last possible token, and without offline_access less than a day', () => {
  expect(familyLifetime(['openid', 'offline_access'])).toBe(90 * daySeconds + lifetimes.accessToken);
  const short = familyLifetime(['openid', 'orders:read']);
  expect(short).toBeGreaterThan(lifetimes.authorizationCode + lifetimes.accessToken);
  expect(short).toBeLessThan(daySeconds);
});
