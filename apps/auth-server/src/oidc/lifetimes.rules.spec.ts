import { grantLifetimeSeconds, lifetimeSeconds, refreshTokenLifetimeSeconds } from './lifetimes.rules.js';

const daySeconds = 24 * 3600;

it('a refresh extends the refresh token by 30 days, up to the 90 days of its family, and by at least a second', () => {
  expect(refreshTokenLifetimeSeconds(0, 0)).toBe(30 * daySeconds);
  expect(refreshTokenLifetimeSeconds(0, 60 * daySeconds)).toBe(30 * daySeconds);
  expect(refreshTokenLifetimeSeconds(0, 80 * daySeconds)).toBe(10 * daySeconds);
  // oidc-provider accepts no shorter lifetime.
  expect(refreshTokenLifetimeSeconds(0, 90 * daySeconds)).toBe(1);
  expect(refreshTokenLifetimeSeconds(0, 91 * daySeconds)).toBe(1);
});

it('a Grant lives until the last token of its family expires, even if the app exchanges the code late', () => {
  const { accessToken, authorizationCode, family, interaction } = lifetimeSeconds;
  const lastExchange = interaction + authorizationCode;
  expect(grantLifetimeSeconds(['openid', 'orders:read'])).toBe(lastExchange + accessToken);
  // The family of refresh tokens starts with the exchange.
  expect(grantLifetimeSeconds(['openid', 'offline_access'])).toBe(lastExchange + family + accessToken);
});
