import { referredName, type Schema, type Schemas } from '@fulfilment/api-reference';

/** A request body that differs from a good one in one place, and whether the document allows it. */
export interface Probe {
  /** Where, as error details name it. */
  readonly field: string;
  readonly what: string;
  readonly allowed: boolean;
  readonly body: unknown;
}

interface Variant {
  readonly what: string;
  readonly allowed: boolean;
  readonly value: unknown;
}

const absent = Symbol('absent');

/** Every bound of a body, met exactly and missed by one, from what the document says and a good body. */
export function boundProbes(schema: Schema, schemas: Schemas, good: unknown): Probe[] {
  return probesOf(schema, schemas, good, [], (value) => value);
}

function probesOf(
  given: Schema,
  schemas: Schemas,
  good: unknown,
  path: readonly string[],
  put: (value: unknown) => unknown,
): Probe[] {
  const schema = { ...schemas[referredName(given) ?? ''], ...given };
  const here = path.length === 0 ? [] : variants(schema, good);
  const own = here.map(({ value, ...variant }) => ({ ...variant, field: path.join('.'), body: put(value) }));
  if (schema.type === 'object' && isObject(good)) {
    const inside = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const putMember = (value: unknown): unknown => {
        const { [name]: _, ...others } = good;
        return put(value === absent ? others : { ...others, [name]: value });
      };
      const required = schema.required?.includes(name) === true;
      const field = [...path, name];
      const present = name in good ? probesOf(member, schemas, good[name], field, putMember) : [];
      return [
        { field: field.join('.'), what: 'left out', allowed: !required, body: putMember(absent) },
        ...present,
      ];
    });
    return [...own, ...inside];
  }
  if (schema.items !== undefined) {
    const [first, ...others] = listOf(good);
    const items = probesOf(schema.items, schemas, first, [...path, '0'], (value) => put([value, ...others]));
    return [...own, ...items];
  }
  return own;
}

function variants(schema: Schema, good: unknown): Variant[] {
  if (schema.enum !== undefined) {
    return [
      ...schema.enum.map((value) => allowed('one of them', value)),
      refused('none of them', 'none-of-them'),
    ];
  }
  switch (schema.type) {
    case 'integer':
      return integers(schema);
    case 'string':
      return texts(schema, String(good));
    case 'array':
      return arrays(schema, good);
    case 'object':
      return [refused('a list', []), refused('a text', 'text')];
    default:
      throw new Error(`No bounds are known of ${JSON.stringify(schema.type)}.`);
  }
}

function integers({ minimum = 0, maximum = 0 }: Schema): Variant[] {
  return [
    allowed('the least', minimum),
    refused('less than the least', minimum - 1),
    allowed('the most', maximum),
    refused('more than the most', maximum + 1),
    refused('a fraction', minimum + 0.5),
    refused('digits in a text', String(minimum)),
  ];
}

function texts({ minLength = 0, maxLength, format, pattern }: Schema, good: string): Variant[] {
  const ofLength = (length: number): string => good + '🎸'.repeat(Math.max(0, length - [...good].length));
  const fits = pattern === undefined || new RegExp(pattern, 'u').test(ofLength(maxLength ?? 0));
  return [
    refused('a number', 5),
    ...(minLength === 1 ? [refused('nothing', '')] : []),
    ...(maxLength === undefined || !fits
      ? []
      : [
          // A URL's own characters, so that its length is all that is wrong with it.
          format === 'uri'
            ? allowed('the longest', good.padEnd(maxLength, 'a'))
            : allowed('the longest', ofLength(maxLength)),
          format === 'uri'
            ? refused('too long', good.padEnd(maxLength + 1, 'a'))
            : refused('too long', ofLength(maxLength + 1)),
        ]),
    ...(format === 'date-time' ? [refused('a date', '2026-11-20')] : []),
    ...(format === 'uri' ? [refused('no URL', 'nothing')] : []),
    ...(format === 'uuid' ? [refused('no UUID', 'nothing')] : []),
    ...(pattern === undefined ? [] : patternVariants(new RegExp(pattern, 'u'))),
  ];
}

/** Texts that patterns of ours tell apart. */
function patternVariants(pattern: RegExp): Variant[] {
  return ['G', 'GB', 'gb', 'GBR', 'G1', ' ', '\u00a0', 'a\u0000b', 'a\nb', 'a\u2028b', 'a\u0085b', 'é'].map(
    (value) =>
      pattern.test(value) ? allowed(JSON.stringify(value), value) : refused(JSON.stringify(value), value),
  );
}

function arrays({ minItems = 0, maxItems = 0 }: Schema, good: unknown): Variant[] {
  const [item] = listOf(good);
  const ofLength = (length: number): unknown[] => Array.from({ length }, () => item);
  return [
    refused('a text', 'text'),
    minItems > 0 ? refused('none', []) : allowed('none', []),
    allowed('the most', ofLength(maxItems)),
    refused('more than the most', ofLength(maxItems + 1)),
  ];
}

function allowed(what: string, value: unknown): Variant {
  return { what, allowed: true, value };
}

function refused(what: string, value: unknown): Variant {
  return { what, allowed: false, value };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): unknown[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list;
}
