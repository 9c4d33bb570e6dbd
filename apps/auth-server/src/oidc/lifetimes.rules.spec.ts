import { expect, it } from '@jest/globals';
import { familyLifetime, lifetimes, refreshTokenLifetime } from './lifetimes.rules.js';

const day = 24 * 3600;

it('a refresh extends the refresh token by 30 days, up to the 90 days of its family', () => {
  expect(refreshTokenLifetime(0, 0)).toBe(30 * day);
  expect(refreshTokenLifetime(0, 60 * day)).toBe(30 * day);
  expect(refreshTokenLifetime(0, 80 * day)).toBe(10 * day);
  expect(refreshTokenLifetime(0, 90 * day)).toBe(1);
  expect(refreshTokenLifetime(0, 91 * day)).toBe(1);
});

it('a token family lives as long as its last possible token, and not much longer', () => {
  expect(familyLifetime(['openid', 'offline_access'])).toBe(90 * day + lifetimes.accessToken);
  const short = familyLifetime(['openid', 'orders:read']);
  expect(short).toBeGreaterThan(lifetimes.authorizationCode + lifetimes.accessToken);
  expect(short).toBeLessThan(day);
});
