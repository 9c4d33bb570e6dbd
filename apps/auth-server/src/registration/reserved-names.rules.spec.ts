import { isReservedName } from './reserved-names.rules.js';

it.each(['\u3164', '\u115f', '\u1160', '\uffa0', '\u200b', '\ufe0f', '\u2800'])(
  'compares names without the invisible character %j',
  (invisible) => {
    expect(isReservedName(`Fulfil${invisible}ment${invisible}`, [])).toBe(true);
    expect(isReservedName('Dashboard', [`Dash${invisible}board`])).toBe(true);
    expect(isReservedName(`Fulfil${invisible}`, [])).toBe(false);
  },
);
