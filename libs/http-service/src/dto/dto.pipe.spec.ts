import { ValidationFailed } from '@fulfilment/error-envelope';
import { Type } from 'class-transformer';
import { IsArray, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { DtoPipe } from './dto.pipe.js';

class LineDto {
  @IsString() sku: string;
  @IsInt() quantity: number;
}
class OrderDto {
  @IsArray() @ValidateNested({ each: true }) @Type(() => LineDto) items: LineDto[];
  @IsOptional() @IsString() note?: string;
}

const pipe = new DtoPipe();
const read = (value: unknown, type: 'body' | 'query' = 'body') =>
  pipe.transform(value, { type, metatype: OrderDto });

function detailsOf(value: unknown, type: 'body' | 'query' = 'body'): unknown {
  try {
    read(value, type);
  } catch (thrown) {
    if (thrown instanceof ValidationFailed) return thrown.details;
    throw thrown;
  }
  return [];
}

describe('DtoPipe', () => {
  it('removes unknown members, and treats null as a missing member', () => {
    expect({ ...Object(read({ items: [], note: null, extra: 1 })) }).toEqual({ items: [] });
  });

  it('names an invalid member by its path', () => {
    expect(
      detailsOf({
        items: [
          { sku: 'a', quantity: 1 },
          { sku: 'b', quantity: '1' },
        ],
      }),
    ).toEqual([{ field: 'items.1.quantity', reason: 'must be an integer number' }]);
  });

  it.each([[[]], ['text'], [null], [3], [undefined]])('rejects %p as a body', (value) => {
    expect(detailsOf(value)).toEqual([{ field: 'body', reason: 'must be an object' }]);
  });

  it('rejects elements that are not objects, and a text in place of a list', () => {
    expect(detailsOf({ items: [null, 3] })).not.toEqual([]);
    expect(detailsOf({ items: 'x' })).not.toEqual([]);
  });

  it('rejects a repeated query parameter', () => {
    expect(detailsOf({ note: ['a', 'b'] }, 'query')).toEqual([
      { field: 'note', reason: 'must occur only once' },
    ]);
  });

  it('ignores unknown query parameters, also repeated ones', () => {
    expect(detailsOf({ items: ['x'], unknown: ['a', 'b'] }, 'query')).toEqual([
      { field: 'items', reason: 'must occur only once' },
    ]);
    class NoteDto {
      @IsOptional() @IsString() note?: string;
    }
    const readNote = (query: object) => pipe.transform(query, { type: 'query', metatype: NoteDto });
    expect(readNote({ note: 'a', unknown: ['a', 'b'], other: { deep: '1' } })).toMatchObject({ note: 'a' });
  });

  it('caches valid queries as frozen objects, and rejects an invalid query every time', () => {
    class PageDto {
      @IsOptional() @IsString() note?: string;
      @IsOptional() @IsInt() @Type(() => Number) page = 1;
    }
    const page = (query: object) => pipe.transform(query, { type: 'query', metatype: PageDto });
    const first = page({ note: 'a' });
    expect(page({ note: 'a' })).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    expect(page({ note: 'b' })).toMatchObject({ note: 'b', page: 1 });
    for (let time = 0; time < 2; time += 1) expect(() => page({ page: 'x' })).toThrow(ValidationFailed);
  });

  it.each(['constructor', '__proto__', 'prototype'])('treats a member named %s as unknown', (name) => {
    const body = JSON.parse(
      `{"items":[{"sku":"a","quantity":1,"${name}":{"${name}":"x"}}],"note":"n","${name}":"x","other":{"${name}":1}}`,
    );
    expect(JSON.stringify(read(body))).toBe('{"items":[{"sku":"a","quantity":1}],"note":"n"}');
  });

  it('rejects a body that is nested too deeply', () => {
    const deep = JSON.parse(`{"other":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(detailsOf({ items: [], ...deep })).toEqual([
      { field: 'body', reason: 'must have at most 32 levels of nesting' },
    ]);
  });

  it.each([
    ['elements of a list', { items: Array(80_000).fill({}) }],
    ['elements of an unknown member', { items: [], other: Array(80_000).fill({}) }],
    ['elements of lists', { items: Array(100).fill(Array(100).fill({})) }],
  ])('rejects a body with too many %s', (_, body) => {
    expect(detailsOf(body)).toEqual([{ field: 'body', reason: 'must have at most 5000 members' }]);
  });

  it("rejects a body with too many members in one object, since class-transformer's time is quadratic", () => {
    const object = (members: number): object =>
      Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, 1]));
    const reason = 'must have at most 200 members in one object';
    expect(detailsOf({ items: [], other: object(201) })).toEqual([{ field: 'body', reason }]);
    expect(detailsOf(object(201))).toEqual([{ field: 'body', reason }]);
    expect(JSON.stringify(read({ items: [], other: object(200) }))).toBe('{"items":[]}');
  });

  it('does not let a body change prototypes', () => {
    read(JSON.parse('{"items":[],"__proto__":{"polluted":true}}'));
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});
