import { belowMount, isBrowserRoute, isPublicDocument, routeOf } from './route-kind.rules.js';

describe('the part of a URL below the mount path', () => {
  it.each([
    ['/api/auth/oauth2/token', '/oauth2/token'],
    ['/api/auth', '/'],
    ['/api/auth?x=/y', '/?x=/y'],
    ['/api/authors', undefined],
    ['/store/v1/orders', undefined],
    ['/store/api/auth/jwks', undefined],
  ])('of %s is %s', (url, expected) => {
    expect(belowMount(url)).toBe(expected);
  });
});

describe('isBrowserRoute', () => {
  it.each([
    ['/account', true],
    ['/account/apps', true],
    ['/accounts', false],
    ['/interaction/8hHc3', true],
    ['/api/auth/oauth2/authorize', true],
    ['/api/auth/oauth2/authorize/8hHc3', true],
    ['/api/auth/oauth2/end-session', true],
    ['/api/auth/oauth2/token', false],
    ['/store/account', false],
  ])('for the full path %s returns %s', (path, expected) => {
    expect(isBrowserRoute(path)).toBe(expected);
  });
});

describe('isPublicDocument', () => {
  it.each([
    ['/jwks', true],
    ['/.well-known/openid-configuration', true],
    ['/jwks/1', false],
    ['/oauth2/jwks', false],
    ['/.well-known/a/b', false],
  ])('for the path %s below the mount path returns %s', (path, expected) => {
    expect(isPublicDocument(path)).toBe(expected);
  });
});

describe('the metrics route of a path', () => {
  it.each([
    ['/oauth2/token', '/api/auth/oauth2/token'],
    ['/oauth2/authorize/8hHc3', '/api/auth/oauth2/authorize'],
    ['/oauth2/register/F3qd_Kf0', '/api/auth/oauth2/register'],
    ['/.well-known/openid-configuration', '/api/auth/.well-known/openid-configuration'],
    ['/jwks', '/api/auth/jwks'],
    ['/oauth2/tokens', 'none'],
    ['/other/oauth2/token', 'none'],
    ['/.well-known/what-somebody-made-up', 'none'],
  ])('of %s is %s', (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
