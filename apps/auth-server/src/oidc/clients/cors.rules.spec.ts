import { isOriginOfClient } from './cors.rules.js';

it('allows only the origins of the redirect URIs of a client', () => {
  const uris = ['https://app.example/callback', 'com.example.app:/callback'];
  expect(isOriginOfClient('https://app.example', uris)).toBe(true);
  expect(isOriginOfClient('https://app.example:444', uris)).toBe(false);
  expect(isOriginOfClient('null', uris)).toBe(false);
});
