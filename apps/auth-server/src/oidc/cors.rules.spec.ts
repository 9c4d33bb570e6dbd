import { expect, it } from '@jest/globals';
import { isOriginOfClient } from './cors.rules.js';

it('knows the origins of a client by its redirect addresses', () => {
  const uris = ['https://app.example/callback', 'com.example.app:/callback'];
  expect(isOriginOfClient('https://app.example', uris)).toBe(true);
  expect(isOriginOfClient('https://app.example:444', uris)).toBe(false);
  expect(isOriginOfClient('null', uris)).toBe(false);
});
