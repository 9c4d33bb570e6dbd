import { csvLine } from './csv.rules.js';

describe('a line of a CSV file', () => {
  it('quotes cells with commas, quotes and line breaks, and ends with CRLF (RFC 4180)', () => {
    expect(csvLine(['a', 'b,c', 'say "hi"', 'two\nlines', 7])).toBe(
      'a,"b,c","say ""hi""","two\nlines",7\r\n',
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])(
    'puts an apostrophe before the formula %j',
    (cell) => {
      // Without the quotes around a line break.
      expect(csvLine([cell]).replaceAll('"', '').startsWith(`'${cell}`)).toBe(true);
    },
  );

  it('leaves numbers and other texts as they are', () => {
    expect(csvLine([-5, "it's", 'a=b', '', '日本'])).toBe("-5,it's,a=b,,日本\r\n");
  });
});
