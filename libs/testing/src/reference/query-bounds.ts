import type { OpenApiDocument, Schema } from '@fulfilment/api-reference';
import { mentionsField } from './mentions-field.js';

/** A list is a repeated parameter, undefined an absent one. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Sends a query and returns the response. */
export type SendQuery = (query: string) => PromiseLike<{ readonly status: number; readonly body: unknown }>;

/**
 * Returns the differences between the documented query parameters of a GET and the service's validation.
 * Sends values at every bound and just beyond it, and each parameter absent and repeated.
 * @param path path in the document
 * @param good valid values of the required parameters
 */
export async function queryMismatches(
  document: OpenApiDocument,
  path: string,
  good: Readonly<Record<string, string>>,
  send: SendQuery,
): Promise<string[]> {
  const mismatches: string[] = [];
  const parameters = (document.paths[path]?.get?.parameters ?? []).filter(
    ({ in: place }) => place === 'query',
  );
  for (const { name, schema, required = false } of parameters) {
    const expectRejection = async (expected: boolean, value: Query[string]): Promise<void> => {
      const response = await send(queryString({ ...good, [name]: value }));
      const rejected = mentionsField(name, response);
      const accepted = response.status < 300;
      if (rejected === expected && accepted !== expected) return;
      mismatches.push(`${name}=${JSON.stringify(value)} gets ${response.status}`);
    };
    await expectRejection(required, undefined);
    const { allowed, rejected } = variants(name, schema);
    for (const value of allowed) await expectRejection(false, value);
    for (const value of rejected) await expectRejection(true, value);
    const [some = good[name] ?? ''] = allowed;
    await expectRejection(true, [some, some]);
  }
  return mismatches;
}

function queryString(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return pairs.join('&');
}

interface Variants {
  readonly allowed: readonly string[];
  readonly rejected: readonly string[];
}

/** Texts that our patterns distinguish. */
const months = ['2026-01', '2026-12', '2026-13', '2026-00', '2026', '2026-1', '26-01', '2026-01-01', ''];

function variants(name: string, schema: Schema): Variants {
  const { minimum = 0, maximum = 0, maxLength, enum: values, type, format, pattern } = schema;
  if (values !== undefined) return { allowed: values.map(String), rejected: ['none of them', ''] };
  if (type === 'integer') {
    return {
      allowed: [minimum, maximum].map(String),
      rejected: [minimum - 1, maximum + 1, `${minimum}.5`, 'abc', ''].map(String),
    };
  }
  if (format === 'uuid') return { allowed: [], rejected: ['me', '019a7f2e-0c11-7d22-8e33-4f556677889', ''] };
  if (format === 'date') {
    return {
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
    };
  }
  if (maxLength !== undefined) {
    // Cursors are signed, so no text is a valid cursor.
    const longest = name === 'cursor' ? [] : ['🎸'.repeat(maxLength)];
    return { allowed: longest, rejected: ['🎸'.repeat(maxLength + 1)] };
  }
  if (pattern !== undefined) {
    const fits = new RegExp(pattern, 'u');
    return {
      allowed: months.filter((text) => fits.test(text)),
      rejected: months.filter((text) => !fits.test(text)),
    };
  }
  throw new Error(`No bounds are known of ${name}.`);
}
