import { browserRequest } from './browser-request.js';

it.each([
  ['is read if it has 4096 UTF-16 code units', '🎶'.repeat(2048), '🎶'.repeat(2048)],
  ['counts as missing if it has more', `${'🎶'.repeat(2048)}x`, undefined],
])('a field of a form %s', (_, sent, read) => {
  expect(browserRequest({ headers: {}, body: { name: sent } }).optionalField('name')).toBe(read);
});
