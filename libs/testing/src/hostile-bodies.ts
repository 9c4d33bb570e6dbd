import fc from 'fast-check';
import { steadyBlockMs } from './longest-block.js';

const maxBlockMs = 50;
/** Room for the good members that surround a hostile one. */
const surroundingsBytes = 2_000;
const placeholder = '@hostile@';

/** What an attacker repeats in a text: each is slow for some step that texts go through. */
const units = [
  'a',
  ' ',
  '\t',
  '\u0000',
  '\u200b', // shows nothing
  '\u0301', // marks in the wrong order cost canonical reordering its square
  '\u0316',
  '\u1100', // Hangul that composes
  '\u1161',
  '\u0130', // its lower case is longer
  'ß', // its upper case is longer
  '\ufdfa', // its compatibility decomposition has 18 characters
  '\u202e',
  '😀',
  '\ud800', // half of a pair
  ...'./%-0=@+"',
];

/** Texts whose JSON has at most so many bytes, made of two units that alternate or follow each other. */
export function hostileTexts(maxBytes: number): fc.Arbitrary<string> {
  const unit = fc.constantFrom(...units);
  const bytes = fc.constantFrom(300, 2_000, 16_000, maxBytes).map((size) => Math.min(size, maxBytes));
  return fc.tuple(unit, unit, bytes, fc.boolean()).map(([one, other, size, alternating]) => {
    const pairs = Math.floor(size / Buffer.byteLength(JSON.stringify(`${one}${other}`)));
    return alternating ? `${one}${other}`.repeat(pairs) : one.repeat(pairs) + other.repeat(pairs);
  });
}

/** JSON that is costly by the length of a text, by the number of its members, or by its depth. */
function hostileJson(maxBytes: number): fc.Arbitrary<string> {
  const element = fc.constantFrom('{}', '[]', '0', '""', 'null', '{"sku":""}', '{"a":{"b":[{}]}}', '1e400');
  const size = fc.constantFrom(500, 5_000, 50_000, maxBytes).map((bytes) => Math.min(bytes, maxBytes));
  const list = fc
    .tuple(element, size)
    .map(([item, bytes]) => `[${repeat(Math.floor(bytes / (item.length + 1)), () => item)}]`);
  const object = fc
    .tuple(element, size)
    .map(
      ([item, bytes]) =>
        `{${repeat(Math.floor(bytes / (item.length + 10)), (index) => `"${index}":${item}`)}}`,
    );
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

/** Bodies of at most so many bytes: a good one with one hostile member at any place, a body that is hostile as a whole, or one that is cut off. */
export function hostileBodies(good: object, maxBytes = 256 * 1024): fc.Arbitrary<string> {
  const places = placesIn(good);
  const room = maxBytes - surroundingsBytes;
  const withOneMember = fc
    .tuple(fc.constantFrom(...places), hostileJson(room))
    .map(([place, value]) => place.replace(`"${placeholder}"`, () => value));
  const cutOff = fc.constantFrom('[', '{"a":', '{"', '"', '{"a":0,', '\\u0301').map((part) => {
    return part.repeat(Math.floor(room / part.length));
  });
  return fc.oneof(
    { weight: 6, arbitrary: withOneMember },
    { weight: 2, arbitrary: hostileJson(room) },
    cutOff,
  );
}

/**
 * Rejects when a hostile body blocks the event loop of this process for more than 50 ms, each time it is sent. The server has to run in it.
 * @param good a body that the operation takes
 */
export async function rejectLongBlocks(
  good: object,
  send: (body: string) => Promise<unknown>,
  runs = 60,
): Promise<void> {
  await send(JSON.stringify(good)); // what is compiled at the first request is not the body's fault
  await assertNoLongBlock(hostileBodies(good), send, runs);
}

/** The same for texts that are no JSON, such as the parameters of a form. */
export async function rejectLongBlocksByText(
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
    const blockMs = await steadyBlockMs(() => send(text), maxBlockMs);
    if (blockMs > maxBlockMs) throw new Error(`It blocked the event loop for ${blockMs.toFixed()} ms.`);
  });
  const { failed, seed, counterexample, errorInstance } = await fc.check(unblocked, {
    numRuns,
    endOnFailure: true, // a smaller body says nothing more
  });
  if (!failed) return;
  const [text = ''] = counterexample ?? [];
  throw new Error(`A text of ${text.length} characters failed (seed ${seed}): ${text.slice(0, 300)}…`, {
    cause: errorInstance,
  });
}

/** The body once for each of its members, at any depth, and for a member that it does not have: with the placeholder at that place. */
function placesIn(good: object): string[] {
  const places = [JSON.stringify({ ...good, unknown: placeholder })];
  const visit = (value: unknown, rebuild: (changed: unknown) => unknown): void => {
    places.push(JSON.stringify(rebuild(placeholder)));
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      visit(member, (changed) =>
        rebuild(Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }),
      );
    }
  };
  visit(good, (changed) => changed);
  return places;
}

function repeat(times: number, item: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => item(index)).join(',');
}
