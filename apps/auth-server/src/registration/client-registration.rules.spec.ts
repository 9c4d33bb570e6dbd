import {
  applicationType,
  displayableName,
  redirectUriProblem,
  registrationProblem,
  sizeProblem,
} from './client-registration.rules.js';

const uriOfLength = (length: number) => 'https://app.example/'.padEnd(length, 'x');

describe('a redirect URI', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example/callback?tenant=1',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:8080/callback',
    'http://[::1]:8080/callback',
    'http://localhost:3000/',
    'com.example.app:/callback',
    uriOfLength(2048),
  ])('may be %s', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });

  it.each([
    'http://app.example/callback',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://[::2]/',
    'https://user:password@app.example/',
    'https://user@app.example/',
    'https://*.app.example/',
    'https://app.example;script-src/callback',
    "https://app'.example/callback",
    'https://app,b.example/callback',
    'https://app.example/#x',
    'https://app.example/#',
    'https://app.example/a b',
    uriOfLength(2049),
    'https://app.example\\@evil.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp:/callback',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://app.example/x',
    ' https://app.example/',
    '/callback',
    '//app.example/',
    'https:/app.example/',
    'https:app.example/',
    'http:/127.0.0.1/callback',
    'HTTPS://app.example/',
    'Com.Example.App:/callback',
    '',
  ])('may not be %s', (uri) => {
    expect(redirectUriProblem(uri)).toEqual(expect.any(String));
  });
});

describe('a client that registers itself (RFC 7591)', () => {
  const redirect_uris = ['https://app.example/'];
  const problemOf = (metadata: Readonly<Record<string, unknown>>) => {
    const { member, reason } = registrationProblem({ redirect_uris, ...metadata }) ?? {};
    return member && `${member} ${reason}`;
  };

  it.each([
    ['no name', {}],
    ['both grant types', { grant_types: ['authorization_code', 'refresh_token'] }],
    ['ten redirect URIs', { redirect_uris: Array(10).fill('https://app.example/') }],
  ])('may have %s', (_, metadata) => {
    expect(problemOf(metadata)).toBeUndefined();
  });

  it.each(['first_party', 'resource_server', 'verified', 'jwks', 'jwks_uri', 'sector_identifier_uri'])(
    'may not have %s',
    (member) => {
      expect(problemOf({ [member]: 'x' })).toBe(`${member} cannot be registered`);
    },
  );

  it.each([
    [{ client_name: 7 }, 'client_name must be a string'],
    [{ grant_types: ['implicit'] }, 'grant_types can only contain authorization_code and refresh_token'],
    [
      { grant_types: ['refresh_token', 7] },
      'grant_types can only contain authorization_code and refresh_token',
    ],
    [{ redirect_uris: undefined }, 'redirect_uris must contain at least one URI'],
    [{ redirect_uris: [] }, 'redirect_uris must contain at least one URI'],
    [{ redirect_uris: 'https://app.example/' }, 'redirect_uris must be an array'],
    [
      { redirect_uris: Array(11).fill('https://app.example/') },
      'redirect_uris must have at most 10 elements',
    ],
    [{ redirect_uris: [7] }, 'redirect_uris must only contain strings'],
    [{ redirect_uris: [uriOfLength(2049)] }, 'redirect_uris must be at most 2048 characters each'],
    [{ redirect_uris: ['a b'] }, 'redirect_uris must not contain spaces, backslashes or wildcards'],
    [{ redirect_uris: ['/callback'] }, 'redirect_uris must only contain valid URIs'],
    [
      { redirect_uris: ['https://a,b/'] },
      'redirect_uris must have a host of letters, digits, dots and hyphens',
    ],
    [{ redirect_uris: ['https://app.example/#x'] }, 'redirect_uris must not contain fragments'],
    [{ redirect_uris: ['https://a@app.example/'] }, 'redirect_uris must not contain user information'],
    [
      { redirect_uris: ['app:/callback'] },
      'redirect_uris must use https, a loopback address or a reverse-domain scheme',
    ],
    [
      { post_logout_redirect_uris: ['http://app.example/'] },
      'post_logout_redirect_uris must use https, except on loopback addresses',
    ],
  ])('may not have the metadata %j', (metadata, problem) => {
    expect(problemOf(metadata)).toBe(problem);
  });

  it('may send 24576 characters with 100 members and elements at all levels, and no more', () => {
    const withoutText = JSON.stringify({ text: '' }).length;
    expect(sizeProblem({ text: 'x'.repeat(24_576 - withoutText) })).toBeUndefined();
    expect(sizeProblem({ text: 'x'.repeat(24_577 - withoutText) })?.reason).toContain('24576 characters');
    expect(sizeProblem({ list: Array(99).fill(null) })).toBeUndefined();
    expect(sizeProblem({ list: Array(100).fill('x') })?.reason).toContain('100 members');
  });
});

it('counts the length of a client name in characters, not in code units', () => {
  expect(
    registrationProblem({ client_name: '🎵'.repeat(100), redirect_uris: ['https://app.example/'] }),
  ).toBeUndefined();
  expect(registrationProblem({ client_name: '🎵'.repeat(101) })).toEqual({
    member: 'client_name',
    reason: 'must be at most 100 characters',
  });
});

it.each(['', ' ', '\u200b', '\u3164', '\u2800'])(
  'rejects the client name %j, which shows nothing',
  (client_name) => {
    expect(registrationProblem({ client_name, redirect_uris: ['https://app.example/'] })).toEqual({
      member: 'client_name',
      reason: 'must not be empty',
    });
  },
);

it('classifies a client as native when a redirect URI is not https', () => {
  expect(applicationType(['https://app.example/'])).toBe('web');
  expect(applicationType(['https://app.example/', 'http://127.0.0.1/'])).toBe('native');
});

it('normalises a client name, and removes invisible and bidirectional marks from it', () => {
  expect(displayableName('cafe\u0301')).toBe('caf\u00e9');
  expect(displayableName('\u200bBank\u202eknaB\u3164\u2028 ')).toBe('BankknaB');
});
