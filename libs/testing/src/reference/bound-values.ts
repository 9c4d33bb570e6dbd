import type { Schema } from '@fulfilment/api-reference';

/** Values at the bounds of a schema, and just beyond them. */
export interface BoundValues {
  readonly allowed: readonly unknown[];
  readonly rejected: readonly unknown[];
}

/** Texts that our patterns distinguish: country codes, white space, control characters, line breaks. */
const texts = ['G', 'GB', 'gb', 'GBR', 'G1', ' ', '\u00a0', 'a\u0000b', 'a\nb', 'a\u2028b', 'a\u0085b', 'é'];
/** Months, and texts that resemble them. */
const months = ['2026-01', '2026-12', '2026-13', '2026-00', '2026', '2026-1', '26-01', '2026-01-01'];

const byFormat: Readonly<Record<string, BoundValues>> = {
  uri: { allowed: [], rejected: ['nothing'] },
  uuid: { allowed: [], rejected: ['nothing', 'me', '019a7f2e-0c11-7d22-8e33-4f556677889', ''] },
  'date-time': { allowed: [], rejected: ['2026-11-20'] },
  date: {
    allowed: ['2024-02-29', '0001-01-01', '9999-12-31'],
    rejected: [
      '2026-02-30',
      '2026-02-29',
      '2026-13-01',
      '2026-3-1',
      '2026-03-01T00:00:00Z',
      '0000-01-01',
      '',
    ],
  },
};

/** Returns values that a schema allows, and values that it rejects. @param validValue one that it allows */
export function boundValues(schema: Schema, validValue: unknown): BoundValues {
  // A missing bound counts as 0, so that the test fails for integers and arrays without documented bounds.
  const { type, enum: values, minimum = 0, maximum = 0, minItems = 0, maxItems = 0 } = schema;
  if (values !== undefined) return { allowed: values, rejected: ['none of them', ''] };
  if (type === 'integer') {
    return { allowed: [minimum, maximum], rejected: [minimum - 1, maximum + 1, minimum + 0.5] };
  }
  if (type === 'array' && Array.isArray(validValue)) {
    const longest = Array.from<unknown>({ length: maxItems }).fill(validValue[0]);
    const tooLong = [...longest, validValue[0]];
    return minItems > 0
      ? { allowed: [longest], rejected: [[], tooLong] }
      : { allowed: [[], longest], rejected: [tooLong] };
  }
  if (type === 'string') return textValues(schema, String(validValue));
  if (type === 'object') return { allowed: [], rejected: [[]] }; // an array is no object
  throw new Error(`No bounds are known for ${JSON.stringify(schema)}.`);
}

function textValues({ minLength, maxLength, format = '', pattern }: Schema, validValue: string): BoundValues {
  const { allowed, rejected } = byFormat[format] ?? patternValues(new RegExp(pattern ?? '', 'u'));
  // One character of two UTF-16 units, since a length must count characters. In a URL, a valid character, so
  // that only its length is wrong.
  const filler = format === 'uri' ? 'a' : '🎸';
  const withLength = (length: number): string =>
    validValue + filler.repeat(Math.max(0, length - [...validValue].length));
  const allowsEmpty = minLength === undefined && new RegExp(pattern ?? '', 'u').test('');
  return {
    allowed: [...allowed, ...(maxLength === undefined ? [] : [withLength(maxLength)])],
    rejected: [
      ...rejected,
      ...(allowsEmpty ? [] : ['']),
      ...(maxLength === undefined ? [] : [withLength(maxLength + 1)]),
    ],
  };
}

function patternValues(pattern: RegExp): BoundValues {
  const { allowed = [], rejected = [] } = Object.groupBy([...texts, ...months], (text) =>
    pattern.test(text) ? 'allowed' : 'rejected',
  );
  return { allowed, rejected };
}
