import { identityDigest, identityOf } from './client-identity.rules.js';

describe('the identity of a client', () => {
  const digest = (name: string) =>
    identityDigest(identityOf({ client_name: name, redirect_uris: ['https://app.example/callback'] }));

  it('does not depend on invisible characters, which earlier versions stored', () => {
    expect(digest('\u2764\ufe0f Tour Stats')).toBe(digest('\u2764 Tour Stats'));
  });

  it('has the hosts of https, with their ports, of loopback addresses, without them, and private-use schemes', () => {
    const redirect_uris = [
      'https://b.example:8443/callback',
      'https://a.example/callback',
      'https://a.example/other',
      'http://127.0.0.1:8080/callback',
      'com.example.app:/callback',
    ];
    expect(identityOf({ redirect_uris })).toEqual({
      name: null,
      redirect_hosts: ['127.0.0.1', 'a.example', 'b.example:8443', 'com.example.app:'],
      application_type: 'web',
    });
  });

  it('has the registered name and application type', () => {
    expect(identityOf({ client_name: 'Tour Stats', application_type: 'native' })).toEqual({
      name: 'Tour Stats',
      redirect_hosts: [],
      application_type: 'native',
    });
  });

  it('depends on the visible name', () => {
    expect(digest('Tour Stats')).not.toBe(digest('Tour Status'));
  });
});
