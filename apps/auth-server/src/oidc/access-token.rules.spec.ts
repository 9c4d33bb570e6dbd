import { describe, expect, it } from '@jest/globals';
import { coveringConsent } from '../connected-apps/covering-consent.rules.js';
import { audienceOf, organisationClaims } from './access-token.rules.js';
import { isOriginOfClient } from './cors.rules.js';
import { lifetimes, refreshTokenLifetime } from './lifetimes.rules.js';

const day = 86_400;
const member = { global_admin: false, organisation_id: 'org_a', role: 'member' };

describe('whom a token acts for', () => {
  it('names organisation, role and creator', () => {
    expect(organisationClaims(member, 'a-creator')).toEqual({
      org_id: 'org_a',
      org_role: 'member',
      creator_id: 'a-creator',
    });
  });

  it('is nobody when the person has left the organisation of the creator', () => {
    const left = { global_admin: false, organisation_id: null, role: null };
    expect(organisationClaims(left, 'a-creator')).toBeUndefined();
    expect(organisationClaims(left, undefined)).toEqual({});
  });

  it('is no organisation for a global admin', () => {
    expect(organisationClaims({ ...member, global_admin: true }, undefined)).toEqual({
      org_role: 'global_admin',
    });
  });

  it('is for both APIs with first-party clients only', () => {
    expect(audienceOf('https://s.example', false)).toEqual(['https://s.example/store']);
    expect(audienceOf('https://s.example', true)).toEqual([
      'https://s.example/store',
      'https://s.example/creator',
    ]);
  });
});

describe('a remembered consent', () => {
  const narrow = { creator_id: 'a', scopes: ['orders:read'] };
  const wide = { creator_id: 'b', scopes: ['orders:read', 'orders:create'] };

  it('covers what was allowed, and nothing more', () => {
    expect(coveringConsent([narrow], ['orders:read'])).toBe(narrow);
    expect(coveringConsent([narrow], ['orders:read', 'orders:create'])).toBeUndefined();
  });

  it('does not choose between two creators', () => {
    expect(coveringConsent([narrow, wide], ['orders:read'])).toBeUndefined();
    expect(coveringConsent([narrow, wide], ['orders:create'])).toBe(wide);
  });
});

it('lets a refresh token slide 30 days at a time within 90', () => {
  expect(refreshTokenLifetime(0, 0)).toBe(30 * day);
  expect(refreshTokenLifetime(0, 59 * day)).toBe(30 * day);
  expect(refreshTokenLifetime(0, 80 * day)).toBe(10 * day);
  expect(refreshTokenLifetime(0, 90 * day)).toBe(1);
  expect(lifetimes.family).toBeGreaterThanOrEqual(lifetimes.refreshToken);
});

it('knows the origins of a client by its redirect addresses', () => {
  const uris = ['https://app.example/callback', 'com.example.app:/callback'];
  expect(isOriginOfClient('https://app.example', uris)).toBe(true);
  expect(isOriginOfClient('https://app.example:444', uris)).toBe(false);
  expect(isOriginOfClient('null', uris)).toBe(false);
});
