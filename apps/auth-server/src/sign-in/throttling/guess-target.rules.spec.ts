import {
  accountKey,
  codeGuessTarget,
  confirmationCodeGuessTarget,
  confirmationGuessTarget,
  passwordGuessTarget,
} from './guess-target.rules.js';

const ipv4 = { subject: 'address:198.51.100.7', network: '198.51.100.7', factor: 1 };

describe('the key of an account', () => {
  it('is the id of a user, or a hash of an unknown e-mail address', () => {
    expect(accountKey({ canonical: 'a@a.example', user: { id: '1' } })).toBe('user-1');
    const unknown = accountKey({ canonical: 'a@a.example', user: undefined });
    expect(unknown).toMatch(/^name-[\w-]{43}$/);
    expect(accountKey({ canonical: 'b@a.example', user: undefined })).not.toBe(unknown);
  });
});

describe('a guess at a password on the sign-in page', () => {
  const guess = { account: 'user-1', address: '198.51.100.7', device: undefined };

  it('counts for the network, the account in all networks, and the account in this network', () => {
    expect(passwordGuessTarget(guess)).toEqual({
      limitedNetworks: [ipv4],
      everywhere: 'everywhere:user-1',
      narrowest: 'pair:user-1@198.51.100.7',
    });
  });

  it('counts only for a browser that signed in before', () => {
    const narrowest = 'device:d';
    expect(passwordGuessTarget({ ...guess, device: 'd' })).toEqual({ limitedNetworks: [], narrowest });
  });

  it('counts for the /56 and the /64 of an IPv6 address, in alphabetical order', () => {
    const { limitedNetworks } = passwordGuessTarget({ ...guess, address: '2001:db8:0:ff::1' });
    expect(limitedNetworks.map(({ factor }) => factor)).toEqual([4, 1]);
    const subjects = limitedNetworks.map(({ subject }) => subject);
    expect(subjects).toEqual(subjects.toSorted());
    expect(new Set(subjects).size).toBe(2);
  });
});

describe('a guess at a code on the sign-in page', () => {
  it('counts for the account and the network, but not for the network in a browser that signed in before', () => {
    const guess = { userId: '1', address: '198.51.100.7', device: undefined };
    expect(codeGuessTarget(guess)).toEqual({ limitedNetworks: [ipv4], narrowest: 'codes:1' });
    expect(codeGuessTarget({ ...guess, device: 'd' })).toEqual({ limitedNetworks: [], narrowest: 'codes:1' });
  });
});

describe('a guess in a signed-in browser', () => {
  it('counts for its session, separately for passwords and codes', () => {
    expect(confirmationGuessTarget('s')).toEqual({ limitedNetworks: [], narrowest: 'session:s' });
    expect(confirmationCodeGuessTarget('s')).toEqual({ limitedNetworks: [], narrowest: 'session:codes-s' });
  });
});
