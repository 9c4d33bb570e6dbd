import { routeOf } from './route-kind.rules.js';

describe('the metrics route of a path', () => {
  it.each([
    ['/oauth2/token', '/api/auth/oauth2/token'],
    ['/oauth2/authorize/8hHc3', '/api/auth/oauth2/authorize'],
    ['/oauth2/register/F3qd_Kf0', '/api/auth/oauth2/register'],
    ['/.well-known/openid-configuration', '/api/auth/.well-known/openid-configuration'],
    ['/jwks', '/api/auth/jwks'],
    ['/oauth2/tokens', 'none'],
    ['/.well-known/what-somebody-made-up', 'none'],
  ])('of %s is %s', (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
