import { hasSecretId, isFamilyMember, storedId } from './stored-models.rules.js';

describe('the stored rows of oidc-provider', () => {
  it.each([
    ['AccessToken', { secret: false, member: true }],
    ['AuthorizationCode', { secret: true, member: true }],
    ['RefreshToken', { secret: true, member: true }],
    ['RegistrationAccessToken', { secret: true, member: false }],
    ['Session', { secret: true, member: false }],
    ['Grant', { secret: false, member: false }],
    ['Client', { secret: false, member: false }],
  ])('of the model %s have a secret id or belong to a family: %j', (model, { secret, member }) => {
    expect([hasSecretId(model), isFamilyMember(model)]).toEqual([secret, member]);
  });

  it('have the SHA-256 of a secret id, and any other id as it is', () => {
    // The SHA-256 of "abc" (FIPS 180-2, appendix B.1), in base64url.
    expect(storedId('Session', 'abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
    expect(storedId('Grant', 'abc')).toBe('abc');
  });
});
