import { idsOf } from './operator-audit.js';

it('records ids from the output of a command, and never a secret or an e-mail address', () => {
  expect(
    idsOf({
      client_id: 'abc',
      client_secret: 'hush',
      user_id: 'a@b.example',
      kid: 'k',
      org_id: null,
      paid: 'x',
    }),
  ).toEqual(['abc', 'k']);
});
