import { identityDigest, identityOf } from './client-identity.rules.js';

describe('the identity of a client', () => {
  const digest = (name: string) =>
    identityDigest(identityOf({ client_name: name, redirect_uris: ['https://app.example/callback'] }));

  it('does not depend on invisible characters, which earlier versions stored', () => {
    expect(digest('\u2764\ufe0f Tour Stats')).toBe(digest('\u2764 Tour Stats'));
  });

  it('depends on the visible name', () => {
    expect(digest('Tour Stats')).not.toBe(digest('Tour Status'));
  });
});
