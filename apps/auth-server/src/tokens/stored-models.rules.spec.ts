import { hasSecretId, isFamilyMember, storedId } from './stored-models.rules.js';

describe('the stored rows of oidc-provider', () => {
  it.each([
    ['AccessToken', { hasSecretId: false, isFamilyMember: true }],
    ['AuthorizationCode', { hasSecretId: true, isFamilyMember: true }],
    ['RefreshToken', { hasSecretId: true, isFamilyMember: true }],
    ['RegistrationAccessToken', { hasSecretId: true, isFamilyMember: false }],
    ['Session', { hasSecretId: true, isFamilyMember: false }],
    ['Grant', { hasSecretId: false, isFamilyMember: false }],
    ['Client', { hasSecretId: false, isFamilyMember: false }],
  ])('of the model %s: %j', (model, expected) => {
    expect({ hasSecretId: hasSecretId(model), isFamilyMember: isFamilyMember(model) }).toEqual(expected);
  });

  it('have the SHA-256 of a secret id, and any other id as it is', () => {
    // The SHA-256 of "abc" (FIPS 180-2, appendix B.1), in base64url.
    expect(storedId('Session', 'abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
    expect(storedId('Grant', 'abc')).toBe('abc');
  });
});
