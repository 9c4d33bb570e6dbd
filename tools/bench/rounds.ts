import { figure, type Figure, type Target } from './figures.ts';

/** Sends a request and waits for its response. Rejects an unexpected response. */
export type Caller = () => Promise<void>;

/** A variant of a comparison: callers that each keep one request in flight. */
export interface Variant {
  readonly name: string;
  readonly callers: readonly Caller[];
  /** CPU time of its server so far, in ms; undefined if the system does not report it. */
  readonly cpuMs?: () => number | undefined;
}

export interface RoundOptions {
  readonly rounds: number;
  /** Duration of a variant's part of a round. */
  readonly eachMs: number;
}

/** One variant's part of a round. */
export interface Part {
  readonly perSecond: number;
  /** CPU time of the server process per request. */
  readonly cpuUs: number | undefined;
}

/** A variant that performs its own part of a round. */
export interface AlternatingVariant {
  readonly name: string;
  readonly part: () => Promise<Part>;
}

/** The parts of each variant by name, one per round. */
export type Rounds = Readonly<Record<string, readonly Part[]>>;

/**
 * Measures all variants in every round, in reverse order every other round, so that other load on the machine
 * affects all of them. The first round warms up the code and is not counted.
 */
export async function measureInRounds(
  variants: readonly Variant[],
  { rounds, eachMs }: RoundOptions,
): Promise<Rounds> {
  return alternate(
    variants.map((variant) => ({ name: variant.name, part: () => measure(variant, eachMs) })),
    rounds,
  );
}

/** The same for variants whose part is a fixed amount of work instead of a fixed time. */
export async function alternate(variants: readonly AlternatingVariant[], rounds: number): Promise<Rounds> {
  const all = variants.map((variant) => ({ ...variant, parts: new Array<Part>() }));
  for (const { part } of all) await part();
  for (let round = 0; round < rounds; round += 1) {
    for (const { part, parts } of round % 2 === 0 ? all : all.toReversed()) parts.push(await part());
  }
  return Object.fromEntries(all.map(({ name, parts }) => [name, parts]));
}

/** @param cpuMs CPU time before and after */
export function makePart(
  done: number,
  elapsedMs: number,
  [before, after]: readonly [number | undefined, number | undefined],
): Part {
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / done;
  return { perSecond: (done * 1000) / elapsedMs, cpuUs };
}

/** Measures work on `count` requests or messages. @param cpuMs CPU time of the server so far */
export async function measurePart(
  count: number,
  cpuMs: () => number | undefined,
  work: () => Promise<unknown>,
): Promise<Part> {
  const cpuBefore = cpuMs();
  const startedAtMs = performance.now();
  await work();
  return makePart(count, performance.now() - startedAtMs, [cpuBefore, cpuMs()]);
}

/** Ratio of two variants per round, since absolute figures say little on a shared machine. */
export function ratio(
  name: string,
  rounds: Rounds,
  variant: string,
  baseline: string,
  target?: Target,
): Figure {
  const base = rounds[baseline] ?? [];
  const ratios = (rounds[variant] ?? []).map(
    ({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? Number.NaN),
  );
  return figure(name, ratios, 'x', target);
}

/** Ratio per second of CPU time; empty if the system does not report CPU time. */
export function ratioPerCore(
  name: string,
  rounds: Rounds,
  variant: string,
  baseline: string,
  target?: Target,
): Figure[] {
  const base = rounds[baseline] ?? [];
  const ratios = (rounds[variant] ?? []).flatMap(({ cpuUs }, round) => {
    const baseUs = base[round]?.cpuUs;
    return cpuUs === undefined || baseUs === undefined ? [] : [baseUs / cpuUs];
  });
  return ratios.length === 0 ? [] : [figure(name, ratios, 'x', target)];
}

/** Absolute figures of a variant. */
export function absolute(rounds: Rounds, name: string): Figure[] {
  const parts = rounds[name] ?? [];
  const cpu = parts.flatMap(({ cpuUs }) => cpuUs ?? []);
  const rates = parts.map(({ perSecond }) => perSecond);
  return [
    figure(`  ${name}`, rates, '/s'),
    ...(cpu.length === 0 ? [] : [figure(`  ${name}, its processor time a request`, cpu, 'µs')]),
  ];
}

/** Measures a variant once. */
export async function measure({ callers, cpuMs }: Omit<Variant, 'name'>, forMs: number): Promise<Part> {
  const startedAt = performance.now();
  const cpuBefore = cpuMs?.();
  let done = 0;
  await Promise.all(
    callers.map(async (call) => {
      while (performance.now() - startedAt < forMs) {
        await call();
        done += 1;
      }
    }),
  );
  return makePart(done, performance.now() - startedAt, [cpuBefore, cpuMs?.()]);
}

/** Does the work several times, one after another. */
export async function repeat<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let round = 0; round < times; round += 1) results.push(await work());
  return results;
}
