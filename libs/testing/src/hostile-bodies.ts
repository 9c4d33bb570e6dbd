import fc from 'fast-check';
import { repeatableBlockMs } from './longest-block.js';

const maxBlockMs = 50;
/** The body limit of operations without one of their own. */
const bodyLimitBytes = 256 * 1024;
/** Bytes for the valid members around a hostile one. */
const surroundingsBytes = 2_000;
const placeholder = '@hostile@';

/** Units that an attacker may repeat in a text. Each is slow in some step of text processing. */
const units = [
  'a',
  ' ',
  '\t',
  '\u0000',
  '\u200b', // invisible
  '\u0301', // marks in the wrong order make canonical reordering quadratic
  '\u0316',
  '\u1100', // composing Hangul
  '\u1161',
  '\u0130', // its lower case is longer
  'ß', // its upper case is longer
  '\ufdfa', // its compatibility decomposition has 18 characters
  '\u202e',
  '😀',
  '\ud800', // an unpaired surrogate
  ...'./%-0=@+"',
];

/** Generates texts of at most `maxBytes` in JSON, made of two units that alternate or follow each other. */
function hostileTexts(maxBytes: number): fc.Arbitrary<string> {
  const unit = fc.constantFrom(...units);
  const bytes = fc.constantFrom(300, 2_000, 16_000, maxBytes).map((size) => Math.min(size, maxBytes));
  return fc.tuple(unit, unit, bytes, fc.boolean()).map(([first, second, size, alternating]) => {
    const pairs = Math.floor(size / Buffer.byteLength(JSON.stringify(`${first}${second}`)));
    return alternating ? `${first}${second}`.repeat(pairs) : first.repeat(pairs) + second.repeat(pairs);
  });
}

/** Generates JSON that is expensive because of the length of a text, the number of members, or the depth. */
function hostileJson(maxBytes: number): fc.Arbitrary<string> {
  const element = fc.constantFrom('{}', '[]', '0', '""', 'null', '{"sku":""}', '{"a":{"b":[{}]}}', '1e400');
  const size = fc.constantFrom(500, 5_000, 50_000, maxBytes).map((bytes) => Math.min(bytes, maxBytes));
  const list = fc
    .tuple(element, size)
    .map(([item, bytes]) => `[${repeat(Math.floor(bytes / (item.length + 1)), () => item)}]`);
  const object = fc.tuple(element, size).map(([item, bytes]) => {
    const memberBytes = item.length + 10; // a name of up to six digits, quotes, colon and comma
    return `{${repeat(Math.floor(bytes / memberBytes), (index) => `"${index}":${item}`)}}`;
  });
  const nested = fc.tuple(fc.constantFrom('[', '{"a":'), size).map(([open, bytes]) => {
    const depth = Math.floor(bytes / (open.length + 1));
    return `${open.repeat(depth)}0${(open === '[' ? ']' : '}').repeat(depth)}`;
  });
  const number = size.chain((bytes) =>
    fc.constantFrom('9'.repeat(bytes), `-0.${'0'.repeat(bytes - 4)}1`, `1e${'9'.repeat(400)}`),
  );
  const text = hostileTexts(maxBytes).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 2, arbitrary: list },
    { weight: 2, arbitrary: object },
    nested,
    number,
  );
}

/**
 * Generates bodies within the body limit of the APIs: a valid body with one hostile member at any place, an
 * entirely hostile body, or a malformed one.
 */
function hostileBodies(validBody: object): fc.Arbitrary<string> {
  const places = placesIn(validBody);
  const maxHostileBytes = bodyLimitBytes - surroundingsBytes;
  const withHostileMember = fc
    .tuple(fc.constantFrom(...places), hostileJson(maxHostileBytes))
    .map(([place, value]) => place.replace(`"${placeholder}"`, () => value));
  const malformed = fc.constantFrom('[', '{"a":', '{"', '"', '{"a":0,', '\\u0301').map((part) => {
    return part.repeat(Math.floor(maxHostileBytes / part.length));
  });
  return fc.oneof(
    { weight: 6, arbitrary: withHostileMember },
    { weight: 2, arbitrary: hostileJson(maxHostileBytes) },
    malformed,
  );
}

/**
 * Rejects when a hostile body repeatedly blocks the event loop of this process, in which the server must run,
 * for more than 50 ms.
 * @param validBody a valid body of the operation
 * @param runs the number of hostile bodies
 */
export async function expectNoLongBlock(
  validBody: object,
  send: (body: string) => Promise<unknown>,
  runs = 60,
): Promise<void> {
  await send(JSON.stringify(validBody)); // excludes one-time compilation at the first request
  await assertNoLongBlock(hostileBodies(validBody), send, runs);
}

/** Does the same as `expectNoLongBlock` with texts that are not JSON, such as the parameters of a form. */
export async function expectNoLongBlockByText(
  maxBytes: number,
  send: (text: string) => Promise<unknown>,
  runs = 60,
): Promise<void> {
  await send('warm up');
  await assertNoLongBlock(hostileTexts(maxBytes), send, runs);
}

async function assertNoLongBlock(
  hostile: fc.Arbitrary<string>,
  send: (text: string) => Promise<unknown>,
  numRuns: number,
): Promise<void> {
  const unblocked = fc.asyncProperty(hostile, async (text) => {
    const blockMs = await repeatableBlockMs(() => send(text), maxBlockMs);
    if (blockMs > maxBlockMs) throw new Error(`It blocked the event loop for ${blockMs.toFixed()} ms.`);
  });
  const { failed, seed, counterexample, errorInstance } = await fc.check(unblocked, {
    numRuns,
    endOnFailure: true, // a smaller body gives no more information
  });
  if (!failed) return;
  const [text = ''] = counterexample ?? [];
  throw new Error(`A text of ${text.length} characters failed (seed ${seed}): ${text.slice(0, 300)}…`, {
    cause: errorInstance,
  });
}

/** Returns copies of the body with the placeholder instead of one member, or as an unknown member. */
function placesIn(validBody: object): string[] {
  const places = [JSON.stringify({ ...validBody, unknown: placeholder })];
  const visit = (value: unknown, rebuild: (changed: unknown) => unknown): void => {
    places.push(JSON.stringify(rebuild(placeholder)));
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      visit(member, (changed) =>
        rebuild(Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }),
      );
    }
  };
  visit(validBody, (changed) => changed);
  return places;
}

function repeat(times: number, item: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => item(index)).join(',');
}
