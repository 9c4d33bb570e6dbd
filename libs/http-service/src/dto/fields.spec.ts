import { Description, dtoSchema } from '@fulfilment/api-reference';
import { ValidationFailed } from '@fulfilment/error-envelope';
import { repeatableBlockMs } from '@fulfilment/testing';
import fc from 'fast-check';
import { DateTimeField, toUtc } from './date-times.js';
import { DtoPipe } from './dto.pipe.js';
import { IntegerField, IntegerParameter } from './integers.js';
import { ObjectList } from './object-list.js';
import { TextField } from './texts.js';
import { UuidField } from './uuids.js';

class NumbersDto {
  @IntegerField(1, 1000) quantity: number;
}
class WideDto {
  @IntegerField(0, Number.MAX_SAFE_INTEGER) amount: number;
}
class QueryDto {
  @IntegerParameter(1, 100) limit: number;
}
class TextDto {
  @TextField({ max: 60 }) text: string;
}
class TitleDto {
  @Description('Its title') @TextField({ max: 60, normalize: true }) title: string;
}
class MomentDto {
  @DateTimeField() at: string;
}
class UuidDto {
  @UuidField() uuid: string;
}

class ListDto {
  @ObjectList(() => NumbersDto, { min: 1, max: 3 }) items: NumbersDto[];
}

const pipe = new DtoPipe();

/** The pipe's result for a body or query; undefined when it is rejected. */
function read(metatype: new () => object, value: object, type: 'body' | 'query' = 'body'): unknown {
  try {
    return { ...Object(pipe.transform(value, { type, metatype })) };
  } catch (error) {
    if (error instanceof ValidationFailed) return undefined;
    throw error;
  }
}

describe('an integer', () => {
  it('is accepted when it is whole and within bounds, and rejected otherwise', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.integer({ min: -5, max: 1005 }), fc.double()), (quantity) => {
        const isValid = Number.isSafeInteger(quantity) && quantity >= 1 && quantity <= 1000;
        expect(read(NumbersDto, { quantity }) !== undefined).toBe(isValid);
      }),
    );
  });

  it.each(['1', '', true, [1], { a: 1 }, 1.5, Number.NaN, Infinity])(
    'is rejected when it is %p',
    (quantity) => {
      expect(read(NumbersDto, { quantity })).toBeUndefined();
    },
  );

  it('may be at most 9007199254740991, and may be written as 1.0', () => {
    expect(read(WideDto, JSON.parse('{"amount":9007199254740991}'))).toEqual({ amount: 9007199254740991 });
    expect(read(WideDto, JSON.parse('{"amount":9007199254740992}'))).toBeUndefined();
    expect(read(WideDto, JSON.parse('{"amount":1.0}'))).toEqual({ amount: 1 });
  });

  it('must be written in canonical digits in a query', () => {
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 150 }), (limit) => {
        const expected = limit >= 1 && limit <= 100 ? { limit } : undefined;
        expect(read(QueryDto, { limit: String(limit) }, 'query')).toEqual(expected);
      }),
    );
    for (const limit of [
      '',
      ' 5',
      '1e1',
      '0x10',
      '5.0',
      '+5',
      '05',
      '-0',
      '00',
      '٥',
      '99999999999999999999',
    ]) {
      expect(read(QueryDto, { limit }, 'query')).toBeUndefined();
    }
  });
});

describe('a text', () => {
  it('is kept unchanged, and its length is counted in code points', () => {
    const graphemes = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(graphemes, (text) => {
        const isValid =
          /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u.test(text) &&
          !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) &&
          [...text].length <= 60;
        expect(read(TextDto, { text })).toEqual(isValid ? { text } : undefined);
      }),
    );
  });

  it('may be 60 emoji, not 61', () => {
    const longest = { text: '🎸'.repeat(60) };
    expect(read(TextDto, longest)).toEqual(longest);
    expect(read(TextDto, { text: '🎸'.repeat(61) })).toBeUndefined();
  });

  it.each(['\u200b', ' \u200d\u2060', '\u3164', '\u2800', '\ufeff', '\u{e0041}', '\ufe0f', '\u200e\u00ad'])(
    'counts as empty if it consists of %j only',
    (text) => {
      expect(read(TextDto, { text })).toBeUndefined();
      expect(read(TextDto, { text: `a${text}` })).toEqual({ text: `a${text}` });
    },
  );

  it('may contain bidirectional marks in a title, but no bidirectional controls', () => {
    for (const control of ['\u202e', '\u202a', '\u2066', '\u2069']) {
      expect(read(TitleDto, { title: `a${control}b` })).toBeUndefined();
      expect(read(TextDto, { text: `a${control}b` })).toEqual({ text: `a${control}b` });
    }
    expect(read(TitleDto, { title: '\u05d0\u200f!' })).toEqual({ title: '\u05d0\u200f!' });
  });

  it.each(['', '   ', '\u00a0', 'a\u0000b', 'a\nb', '\ud800', 'line\u2028separator', 5, true, ['a'], {}])(
    'is rejected when it is %j',
    (text) => {
      expect(read(TextDto, { text })).toBeUndefined();
    },
  );

  it.each([
    ['a\u0000b', 'must not contain control characters'],
    ['a\ud800b', 'must not contain unpaired surrogates'],
  ])('is rejected with the reason for %j', (text, reason) => {
    expect(() => pipe.transform({ text }, { type: 'body', metatype: TextDto })).toThrow(
      expect.objectContaining({ details: [{ field: 'text', reason }] }),
    );
  });

  it('is trimmed and converted to NFC in a title, which is idempotent', () => {
    expect(read(TitleDto, { title: '  Cafe\u0301 ' })).toEqual({ title: 'Caf\u00e9' });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (title) => {
        const once = read(TitleDto, { title });
        if (once !== undefined) expect(read(TitleDto, Object(once))).toEqual(once);
      }),
    );
  });
});

describe('a title before normalisation', () => {
  /** Combining marks whose normalisation would take many seconds. */
  const marks = '\u0301'.repeat(65_000) + '\u0316'.repeat(65_000);

  it('is rejected within 50 ms of CPU time when it is far too long', async () => {
    const readBoth = () => {
      expect(read(TitleDto, { title: marks })).toBeUndefined();
      expect(read(TextDto, { text: marks })).toBeUndefined();
      return Promise.resolve();
    };
    // Ten runs at most, because garbage collection may delay one.
    expect(await repeatableBlockMs(readBoth, 50, 10)).toBeLessThanOrEqual(50);
  });

  it('may have up to four UTF-16 code units for each character', () => {
    expect(read(TitleDto, { title: '\u1112\u1161\u11ab'.repeat(60) })).toEqual({ title: '한'.repeat(60) });
    const spaces = ' '.repeat(4 * 60 - 'Tidal Maps'.length);
    expect(read(TitleDto, { title: `${spaces}Tidal Maps` })).toEqual({ title: 'Tidal Maps' });
    expect(read(TitleDto, { title: `${spaces} Tidal Maps` })).toBeUndefined();
  });
});

describe('a UUID', () => {
  it('is accepted in either case and converted to lower case', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (uuid, upper) => {
        expect(read(UuidDto, { uuid: upper ? uuid.toUpperCase() : uuid })).toEqual({ uuid });
      }),
    );
  });

  it.each(['', 'x', '00000000000000000000000000000000', '{00000000-0000-0000-0000-000000000000}', 5])(
    'is rejected when it is %j',
    (uuid) => {
      expect(read(UuidDto, { uuid })).toBeUndefined();
    },
  );
});

describe('a list of objects', () => {
  const validItem = { quantity: 1 };
  /** Returns the error details of an invalid body. */
  const errorsOf = (value: object): unknown => {
    try {
      pipe.transform(value, { type: 'body', metatype: ListDto });
      return [];
    } catch (error) {
      return error instanceof ValidationFailed ? error.details : error;
    }
  };

  it('is accepted when each element is valid', () => {
    expect(read(ListDto, { items: [validItem, validItem] })).toEqual({ items: [validItem, validItem] });
  });

  it.each([1, 'x', null, true, [], [validItem]])('reports the index of the invalid element %j', (wrong) => {
    expect(errorsOf({ items: [validItem, wrong] })).toEqual([
      { field: 'items.1', reason: 'must be an object' },
    ]);
  });

  it.each([undefined, null, 'x', { 0: validItem }])('is rejected when it is %j', (items) => {
    expect(errorsOf({ items })).toEqual([{ field: 'items', reason: 'must be an array' }]);
  });

  it('reports invalid members of its elements, and a wrong number of elements', () => {
    expect(errorsOf({ items: [validItem, {}] })).toMatchObject([{ field: 'items.1.quantity' }]);
    expect(errorsOf({ items: [] })).toMatchObject([{ field: 'items' }]);
    expect(errorsOf({ items: [validItem, validItem, validItem, validItem] })).toMatchObject([
      { field: 'items' },
    ]);
  });
});

describe('a date-time', () => {
  it.each([
    ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00Z'],
    ['2026-11-20t12:00:00.5z', '2026-11-20T12:00:00.5Z'],
    ['2026-11-20T12:00:00.123456789012345+02:00', '2026-11-20T10:00:00.123456789Z'],
    ['2026-11-20T23:59:59-23:59', '2026-11-21T23:58:59Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2017-01-01T08:59:60.9+09:00', '2017-01-01T00:00:00.9Z'],
    ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59.999999Z'],
    ['0050-02-28T00:00:00Z', '0050-02-28T00:00:00Z'],
  ])('is converted from %s to %s', (given, moment) => {
    expect(read(MomentDto, { at: given })).toEqual({ at: moment });
  });

  it('has at most nine fractional digits, however many were sent', () => {
    const at = `2026-11-20T12:00:00.${'1'.repeat(10_000)}Z`;
    expect(read(MomentDto, { at })).toEqual({ at: '2026-11-20T12:00:00.111111111Z' });
  });

  it.each([
    '2026-11-20',
    '2026-11-20T12:00:00',
    '2026-02-30T12:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:00:60Z',
    '2026-11-20 12:00:00Z',
    '2026-11-20T12:00:00+24:00',
    5,
    null,
  ])('is rejected when it is %p', (at) => {
    expect(read(MomentDto, { at })).toBeUndefined();
  });

  it('is converted to the same time that JavaScript parses', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(Date.parse(toUtc(date.toISOString()) ?? '')).toBe(date.getTime());
        },
      ),
    );
  });
});

describe('the schema of a title', () => {
  const pattern = new RegExp(String(dtoSchema(TitleDto).schema.properties?.['title']?.pattern), 'u');
  const accepts = (text: string): boolean => read(TitleDto, { title: text }) !== undefined;

  it.each([' Tidal Maps\t', '\n a \n', 'a', '\u2028a', 'a\tb', '\u202ea', 'a\u2066', ' ', '', '\u0000a'])(
    'agrees with its validation about %j',
    (title) => {
      expect(pattern.test(title)).toBe(accepts(title));
    },
  );
});
