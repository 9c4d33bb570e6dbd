import { displayName } from './display-name.js';

describe('a display name', () => {
  it('has at most 200 characters after its normalisation', () => {
    const decomposed = 'e\u0302\u0301';
    expect(displayName.parse(decomposed.repeat(200))).toBe('ế'.repeat(200));
    expect(displayName.safeParse(decomposed.repeat(201)).success).toBe(false);
  });

  it.each(['', ' ', '\u200b', '\u2800', 'two\nlines', 'a\u202eb'])('must not be %j', (name) => {
    expect(displayName.safeParse(name).success).toBe(false);
  });
});
