import { findInMarkdown, findInSource } from './find-words.rules.ts';

const found = (text: string): string[] =>
  findInSource(text).map((finding) => `${finding.line}: ${finding.found}`);

describe('the check of words', () => {
  it('finds banned words anywhere in an identifier', () => {
    expect(found('const toldAtMs = 1;\nfunction refuseStale() {}\nconst mostPerOrder = 2;')).toEqual([
      '1: toldAtMs',
      '2: refuseStale',
      '3: mostPerOrder',
    ]);
  });

  it('does not take a part of a word for a banned word', () => {
    expect(found('const atmost = 1; // almost everybody, besides intelligence')).toEqual([]);
  });

  it('finds banned words in comments of every kind, and not in strings or code spans', () => {
    expect(
      found("/** Told twice. */\nconst a = 'told'; // done by hand\n/*\n * `told` is fine\n */"),
    ).toEqual(['1: Told', '2: by hand']);
  });

  it('finds banned words in test titles', () => {
    expect(found("describe('a caller', () => {\n  it('is told why', run);\n});")).toEqual(['2: told']);
    // A finding is at the line of the title, not at that of `it.each`; the rows are no titles.
    const rows = "  ['told'],\n".repeat(100);
    expect(found(`it.each([\n${rows}])('is told %s', run);`)).toEqual(['102: told']);
  });

  it('finds a comment line of more than 110 columns, its indentation included', () => {
    expect(found(`  // ${'x'.repeat(105)}`)).toEqual([]);
    expect(found(`  // ${'x'.repeat(106)}`)).toEqual(['1: a comment of 111 columns']);
    expect(found(`const a = 1; // ${'x'.repeat(95)}`)).toEqual(['1: a comment of 111 columns']);
  });

  it('allows a word if a comment on the same or previous line gives the reason', () => {
    expect(found('const toldAt = 1; // words: name of a column')).toEqual([]);
    expect(found('// words: quotes RFC 9700\n// the client is told to retry')).toEqual([]);
    for (const withoutReason of ['// words:', '/* words: */', '<!-- words: -->'])
      expect(found(`const toldAt = 1; ${withoutReason}`)).toEqual(['1: toldAt']);
  });

  it('finds banned words in Markdown outside of code', () => {
    const text = 'It was told.\n```sh\ntold\n```\n`told` <!-- words: sample --> told\n\nDone by hand.';
    expect(findInMarkdown(text).map((finding) => `${finding.line}: ${finding.found}`)).toEqual([
      '1: told',
      '7: by hand',
    ]);
  });
});
