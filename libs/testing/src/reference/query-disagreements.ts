import type { OpenApiDocument, Schema } from '@fulfilment/api-reference';
import { isAbout } from './is-about.js';

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Sends a query and answers what came back. A list is the same parameter several times, undefined none. */
export type AskWithQuery = (
  query: string,
) => PromiseLike<{ readonly status: number; readonly body: unknown }>;

/**
 * What the document says of a GET's query and the service does not do, or the other way round: every bound is met exactly and missed by one, each
 * parameter is left out and sent twice.
 * @param path as the document has it
 * @param good the required parameters, none of which is found fault with
 */
export async function queryDisagreements(
  document: OpenApiDocument,
  path: string,
  good: Readonly<Record<string, string>>,
  ask: AskWithQuery,
): Promise<string[]> {
  const disagreements: string[] = [];
  const parameters = (document.paths[path]?.get?.parameters ?? []).filter(
    ({ in: place }) => place === 'query',
  );
  for (const { name, schema, required = false } of parameters) {
    const expectRefusal = async (refusal: boolean, value: Query[string]): Promise<void> => {
      const answer = await ask(queryString({ ...good, [name]: value }));
      const refused = isAbout(name, answer);
      const taken = answer.status < 300;
      if (refused === refusal && taken !== refusal) return;
      disagreements.push(`${name}=${JSON.stringify(value)} is answered ${answer.status}`);
    };
    await expectRefusal(required, undefined);
    const { allowed, refused } = variants(name, schema);
    for (const value of allowed) await expectRefusal(false, value);
    for (const value of refused) await expectRefusal(true, value);
    const [some = good[name] ?? ''] = allowed;
    await expectRefusal(true, [some, some]);
  }
  return disagreements;
}

function queryString(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return pairs.join('&');
}

interface Variants {
  readonly allowed: readonly string[];
  readonly refused: readonly string[];
}

/** Texts that patterns of ours tell apart. */
const months = ['2026-01', '2026-12', '2026-13', '2026-00', '2026', '2026-1', '26-01', '2026-01-01', ''];

function variants(name: string, schema: Schema): Variants {
  const { minimum = 0, maximum = 0, maxLength, enum: values, type, format, pattern } = schema;
  if (values !== undefined) return { allowed: values.map(String), refused: ['none of them', ''] };
  if (type === 'integer') {
    return {
      allowed: [minimum, maximum].map(String),
      refused: [minimum - 1, maximum + 1, `${minimum}.5`, 'abc', ''].map(String),
    };
  }
  if (format === 'uuid') return { allowed: [], refused: ['me', '019a7f2e-0c11-7d22-8e33-4f556677889', ''] };
  if (format === 'date') {
    return {
      allowed: ['2024-02-29', '0001-01-01', '9999-12-31'],
      refused: [
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
    // Cursors are signed: no text is one.
    const longest = name === 'cursor' ? [] : ['🎸'.repeat(maxLength)];
    return { allowed: longest, refused: ['🎸'.repeat(maxLength + 1)] };
  }
  if (pattern !== undefined) {
    const fits = new RegExp(pattern, 'u');
    return {
      allowed: months.filter((text) => fits.test(text)),
      refused: months.filter((text) => !fits.test(text)),
    };
  }
  throw new Error(`No bounds are known of ${name}.`);
}
