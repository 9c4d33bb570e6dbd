import { isReservedName } from './reserved-names.rules.js';

const firstPartyNames = ['Dashboard'];

describe('a name', () => {
  it.each([
    'Fulfilment',
    'FULFILMENT',
    'Fulfílment',
    'Fu1filment',
    'Fulfіlment', // a Cyrillic і
    'F u l f i l m e n t',
    'Ｆulfilment.',
    'Your account',
    'Yоur аccount', // Cyrillic о and а
    'Dashboard',
    'dash-board',
    'Your\u115f\u1160 account\uffa0', // Hangul fillers, which are invisible letters
  ])('that can be confused with one of ours is reserved: %s', (name) => {
    expect(isReservedName(name, firstPartyNames)).toBe(true);
  });

  it.each(['Fulfilment for Shops', 'My account', 'Dashboards'])(
    'that contains a reserved name, or shares a word with one, is allowed: %s',
    (name) => {
      expect(isReservedName(name, firstPartyNames)).toBe(false);
    },
  );

  it.each(['\u3164', '\u115f', '\u1160', '\uffa0', '\u200b', '\ufe0f', '\u2800'])(
    'is compared without the invisible character %j',
    (invisible) => {
      expect(isReservedName(`Fulfil${invisible}ment${invisible}`, [])).toBe(true);
      expect(isReservedName('Dashboard', [`Dash${invisible}board`])).toBe(true);
      expect(isReservedName(`Fulfil${invisible}`, [])).toBe(false);
    },
  );
});
