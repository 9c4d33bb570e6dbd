import { figure, type Figure, type Target } from './figures.ts';

/** Sends a request and waits for its response. Rejects an unexpected response. */
export type Caller = () => Promise<void>;

/** A process, or all processes of a service. */
export interface MeasuredServer {
  /** Processor time so far, in ms; undefined if the system does not report it. */
  cpuMs(): number | undefined;
}

/** A server that can be paused; requests wait until `resume`. */
export interface PausableServer extends MeasuredServer {
  pause(): void;
  resume(): void;
}

/** A server under comparison, with callers that each keep one request in flight. */
interface Variant {
  readonly name: string;
  readonly callers: readonly Caller[];
  readonly server: MeasuredServer;
}

interface RoundOptions {
  readonly rounds: number;
  /** Duration of one sample. */
  readonly eachMs: number;
}

/** The result of one variant in one round. */
export interface Sample {
  /** Requests, messages or deliveries per second. */
  readonly perSecond: number;
  /** Processor time of the server process per request, message or delivery. */
  readonly cpuUs: number | undefined;
}

/** A variant that measures itself, for example how long a fixed amount of work takes. */
interface AlternatingVariant<Result = Sample> {
  readonly name: string;
  readonly measure: () => Promise<Result>;
}

/** The results of each variant by its name, one per round. */
export type Rounds<Result = Sample> = Readonly<Record<string, readonly Result[]>>;

/** Measures the callers of each variant in the rounds of `alternate`. */
export function measureInRounds(
  variants: readonly Variant[],
  { rounds, eachMs }: RoundOptions,
): Promise<Rounds> {
  return alternate(
    variants.map((variant) => ({ name: variant.name, measure: () => measureCallers(variant, eachMs) })),
    rounds,
  );
}

/**
 * Measures all variants in every round, in reverse order every other round, so that other load on the machine
 * affects all of them. The first round warms up the code and is not counted.
 */
export async function alternate<Result>(
  variants: readonly AlternatingVariant<Result>[],
  rounds: number,
): Promise<Rounds<Result>> {
  const all = variants.map((variant) => ({ ...variant, results: new Array<Result>() }));
  for (const { measure } of all) await measure();
  for (let round = 0; round < rounds; round += 1)
    for (const { measure, results } of round % 2 === 0 ? all : all.toReversed())
      results.push(await measure());
  return Object.fromEntries(all.map(({ name, results }) => [name, results]));
}

/**
 * @param count number of requests, messages or deliveries
 * @param cpuMs processor times of the server before and after; undefined if they are not measured
 */
export function makeSample(
  count: number,
  elapsedMs: number,
  cpuMs: readonly [number | undefined, number | undefined],
): Sample {
  const [beforeMs, afterMs] = cpuMs;
  const cpuUs =
    beforeMs === undefined || afterMs === undefined ? undefined : ((afterMs - beforeMs) * 1000) / count;
  return { perSecond: (count * 1000) / elapsedMs, cpuUs };
}

/** Measures work on `count` messages or deliveries. */
export async function measureWork(
  count: number,
  server: MeasuredServer,
  work: () => Promise<unknown>,
): Promise<Sample> {
  const cpuBeforeMs = server.cpuMs();
  const startedAtMs = performance.now();
  await work();
  return makeSample(count, performance.now() - startedAtMs, [cpuBeforeMs, server.cpuMs()]);
}

/** Measures work that is prepared while the server is paused, so that the two do not compete. */
export async function measurePrepared(
  count: number,
  server: PausableServer,
  { prepare, work }: { readonly prepare: () => Promise<unknown>; readonly work: () => Promise<unknown> },
): Promise<Sample> {
  server.pause();
  try {
    await prepare();
    return await measureWork(count, server, () => {
      server.resume();
      return work();
    });
  } finally {
    server.resume();
  }
}

/** Names of the variants of a ratio. */
interface Ratio {
  readonly numerator: string;
  readonly denominator: string;
}

/** Compares two throughputs round by round, since absolute figures vary with the load of the machine. */
export function ratio(
  name: string,
  rounds: Rounds,
  { numerator, denominator }: Ratio,
  target?: Target,
): Figure {
  const base = rounds[denominator] ?? [];
  const ratios = (rounds[numerator] ?? []).map(
    ({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? Number.NaN),
  );
  return figure(name, ratios, 'x', target);
}

/** Compares two throughputs per second of processor time; empty if the system does not report it. */
export function ratioPerCpuSecond(
  name: string,
  rounds: Rounds,
  { numerator, denominator }: Ratio,
  target?: Target,
): Figure[] {
  const base = rounds[denominator] ?? [];
  const ratios = (rounds[numerator] ?? []).flatMap(({ cpuUs }, round) => {
    const baseUs = base[round]?.cpuUs;
    return cpuUs === undefined || baseUs === undefined ? [] : [baseUs / cpuUs];
  });
  return ratios.length === 0 ? [] : [figure(name, ratios, 'x', target)];
}

/** The ratio of two variants, also by processor time, and the absolute figures of both. */
export function comparisonFigures(name: string, rounds: Rounds, variants: Ratio, target?: Target): Figure[] {
  return [
    ratio(name, rounds, variants, target),
    ...ratioPerCpuSecond('  the same by processor time', rounds, variants),
    ...absoluteFigures(rounds, variants.denominator),
    ...absoluteFigures(rounds, variants.numerator),
  ];
}

/** Absolute figures of a variant. */
export function absoluteFigures(rounds: Rounds, name: string): Figure[] {
  const samples = rounds[name] ?? [];
  const cpu = samples.flatMap(({ cpuUs }) => cpuUs ?? []);
  const rates = samples.map(({ perSecond }) => perSecond);
  return [
    figure(`  ${name}`, rates, '/s'),
    ...(cpu.length === 0 ? [] : [figure(`  ${name}, processor time per request`, cpu, 'µs')]),
  ];
}

/** Measures how many requests the callers complete in `durationMs`. */
export async function measureCallers(
  { callers, server }: Omit<Variant, 'name'>,
  durationMs: number,
): Promise<Sample> {
  const startedAtMs = performance.now();
  const cpuBeforeMs = server.cpuMs();
  let completed = 0;
  await Promise.all(
    callers.map(async (call) => {
      while (performance.now() - startedAtMs < durationMs) {
        await call();
        completed += 1;
      }
    }),
  );
  return makeSample(completed, performance.now() - startedAtMs, [cpuBeforeMs, server.cpuMs()]);
}

/** Does the work `times` times, one after another, and returns the results. */
export async function repeat<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let round = 0; round < times; round += 1) results.push(await work());
  return results;
}
