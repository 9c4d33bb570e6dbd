import {
  applicationType,
  displayableName,
  redirectUriProblem,
  registrationProblem,
} from './client-registration.rules.js';

describe('a redirect URI', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example/callback?tenant=1',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:8080/callback',
    'http://[::1]:8080/callback',
    'http://localhost:3000/',
    'com.example.app:/callback',
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
    `https://app.example/${'x'.repeat(2048)}`,
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
    'HTTPS://app.example/',
    'Com.Example.App:/callback',
    '',
  ])('may not be %s', (uri) => {
    expect(redirectUriProblem(uri)).toEqual(expect.any(String));
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

it('removes invisible and bidirectional marks from a client name', () => {
  expect(displayableName('\u200bBank\u202eknaB\u3164\u2028 ')).toBe('BankknaB');
});
