import { referredName, type Schema, type Schemas } from '@fulfilment/api-reference';

/** A request body that differs from a valid one in one member, and whether the document allows it. */
export interface Probe {
  /** The member, as error details name it. */
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

/** Returns bodies with a value at every documented bound and just beyond it, based on a valid body. */
export function boundProbes(schema: Schema, schemas: Schemas, good: unknown): Probe[] {
  return collectProbes(schema, schemas, good, [], (value) => value);
}

function collectProbes(
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
      const present = name in good ? collectProbes(member, schemas, good[name], field, putMember) : [];
      return [
        { field: field.join('.'), what: 'left out', allowed: !required, body: putMember(absent) },
        ...present,
      ];
    });
    return [...own, ...inside];
  }
  if (schema.items !== undefined) {
    const [first, ...others] = asList(good);
    const items = collectProbes(schema.items, schemas, first, [...path, '0'], (value) =>
      put([value, ...others]),
    );
    return [...own, ...items];
  }
  return own;
}

function variants(schema: Schema, good: unknown): Variant[] {
  if (schema.enum !== undefined) {
    return [
      ...schema.enum.map((value) => allowed('one of the values', value)),
      rejected('none of the values', 'none-of-them'),
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
      return [rejected('a list', []), rejected('a text', 'text')];
    default:
      throw new Error(`No bounds are known of ${JSON.stringify(schema.type)}.`);
  }
}

function integers({ minimum = 0, maximum = 0 }: Schema): Variant[] {
  return [
    allowed('the minimum', minimum),
    rejected('less than the minimum', minimum - 1),
    allowed('the maximum', maximum),
    rejected('more than the maximum', maximum + 1),
    rejected('a fraction', minimum + 0.5),
    rejected('digits in a text', String(minimum)),
  ];
}

function texts({ minLength = 0, maxLength, format, pattern }: Schema, good: string): Variant[] {
  const withLength = (length: number): string => good + '🎸'.repeat(Math.max(0, length - [...good].length));
  const fits = pattern === undefined || new RegExp(pattern, 'u').test(withLength(maxLength ?? 0));
  return [
    rejected('a number', 5),
    ...(minLength === 1 ? [rejected('an empty text', '')] : []),
    ...(maxLength === undefined || !fits
      ? []
      : [
          // Characters that are valid in a URL, so that only its length is wrong.
          format === 'uri'
            ? allowed('the longest', good.padEnd(maxLength, 'a'))
            : allowed('the longest', withLength(maxLength)),
          format === 'uri'
            ? rejected('too long', good.padEnd(maxLength + 1, 'a'))
            : rejected('too long', withLength(maxLength + 1)),
        ]),
    ...(format === 'date-time' ? [rejected('a date', '2026-11-20')] : []),
    ...(format === 'uri' ? [rejected('an invalid URL', 'nothing')] : []),
    ...(format === 'uuid' ? [rejected('an invalid UUID', 'nothing')] : []),
    ...(pattern === undefined ? [] : patternVariants(new RegExp(pattern, 'u'))),
  ];
}

/** Texts that our patterns distinguish. */
function patternVariants(pattern: RegExp): Variant[] {
  return ['G', 'GB', 'gb', 'GBR', 'G1', ' ', '\u00a0', 'a\u0000b', 'a\nb', 'a\u2028b', 'a\u0085b', 'é'].map(
    (value) =>
      pattern.test(value) ? allowed(JSON.stringify(value), value) : rejected(JSON.stringify(value), value),
  );
}

function arrays({ minItems = 0, maxItems = 0 }: Schema, good: unknown): Variant[] {
  const [item] = asList(good);
  const withLength = (length: number): unknown[] => Array.from({ length }, () => item);
  return [
    rejected('a text', 'text'),
    minItems > 0 ? rejected('none', []) : allowed('none', []),
    allowed('the maximum', withLength(maxItems)),
    rejected('more than the maximum', withLength(maxItems + 1)),
  ];
}

function allowed(what: string, value: unknown): Variant {
  return { what, allowed: true, value };
}

function rejected(what: string, value: unknown): Variant {
  return { what, allowed: false, value };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asList(value: unknown): unknown[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list;
}
