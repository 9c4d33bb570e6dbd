import fc from 'fast-check';
import { trackTags } from './track-tags.rules.js';

describe('trackTags', () => {
  it.each([
    ['  Slow   Signal ', 'Slow Signal'],
    ['Cafe\u0301', 'Café'],
    ['line\nbreak\ttab\0nul', 'line break tab nul'],
    ['evil\u202egnp.exe', 'evil gnp.exe'],
    ['\u200fmarks\u200e of \u061cdirection', 'marks of direction'],
    ['👩\u200d🎤', '👩\u200d🎤'],
    ['🎸'.repeat(300), '🎸'.repeat(200)],
    ['lone \ud800 surrogate', 'lone surrogate'],
    [' \u200b \u0000 ', null],
    ['\u2800', null],
    ['   ', null],
    ['', null],
    [undefined, null],
    [7, null],
  ])('converts the title %j to %j', (title, cleaned) => {
    expect(trackTags(title, null).title).toBe(cleaned);
  });

  it.each([
    [1, 1],
    [999, 999],
    [0, null],
    [1000, null],
    [-1, null],
    [1.5, null],
    [Number.NaN, null],
    ['3', null],
    [null, null],
  ])('converts the position %j to %j', (position, cleaned) => {
    expect(trackTags(null, position).position).toBe(cleaned);
  });

  it('never returns control, private-use or direction characters, or more than 200 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const { title } = trackTags(text, null);
        if (title === null) return;
        expect(title).not.toMatch(/[\p{Cc}\p{Cs}\p{Co}\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u);
        expect([...title].length).toBeLessThanOrEqual(200);
        expect(title).toBe(title.normalize('NFC').trim());
      }),
    );
  });
});
