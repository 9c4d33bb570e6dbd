import { audienceOf, organisationClaims } from './access-token.rules.js';

const member = { global_admin: false, organisation_id: 'org_a', role: 'member' };

describe('the claims of an access token', () => {
  it('name the organisation, the role and the creator', () => {
    expect(organisationClaims(member, 'a-creator')).toEqual({
      org_id: 'org_a',
      org_role: 'member',
      creator_id: 'a-creator',
    });
  });

  it('of a person without an organisation are undefined with a creator, and empty without one', () => {
    const withoutOrganisation = { global_admin: false, organisation_id: null, role: null };
    expect(organisationClaims(withoutOrganisation, 'a-creator')).toBeUndefined();
    expect(organisationClaims(withoutOrganisation, undefined)).toEqual({});
  });

  it('name no organisation for a global admin', () => {
    expect(organisationClaims({ ...member, global_admin: true }, undefined)).toStrictEqual({
      org_role: 'global_admin',
    });
  });

  it('have both APIs as audience only for first-party clients', () => {
    expect(audienceOf('https://s.example', false)).toEqual(['https://s.example/store']);
    expect(audienceOf('https://s.example', true)).toEqual([
      'https://s.example/store',
      'https://s.example/creator',
    ]);
  });
});
