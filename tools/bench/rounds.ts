import { figure, type Figure, type Target } from './figures.ts';

/** Sends one request and waits for its answer; rejects when that is not as it should be. */
export type Caller = () => Promise<void>;

/** What is compared: some callers that keep one request each in flight. */
export interface Variant {
  readonly name: string;
  readonly callers: readonly Caller[];
  /** Processor time its server has used so far, in ms; undefined where the system does not tell. */
  readonly cpuMs?: () => number | undefined;
}

export interface RoundOptions {
  readonly rounds: number;
  /** Length of a variant's part of a round. */
  readonly eachMs: number;
}

/** One variant's part of a round. */
export interface Part {
  readonly perSecond: number;
  /** Of its server's process, each request. */
  readonly cpuUs: number | undefined;
}

/** A variant that does its part by itself. */
export interface Turn {
  readonly name: string;
  readonly part: () => Promise<Part>;
}

/** Of each variant, by its name, one for each round. */
export type Rounds = Readonly<Record<string, readonly Part[]>>;

/**
 * The variants take turns in every round, in reverse order every other round, so what else the machine does meets all of them.
 * A round that is not counted goes first: what runs for the first time is compiled.
 */
export async function measureInRounds(
  variants: readonly Variant[],
  { rounds, eachMs }: RoundOptions,
): Promise<Rounds> {
  return takeTurns(
    variants.map((variant) => ({ name: variant.name, part: () => measure(variant, eachMs) })),
    rounds,
  );
}

/** The same for variants whose part of a round is not as long as a time, but as an amount of work. */
export async function takeTurns(variants: readonly Turn[], rounds: number): Promise<Rounds> {
  const all = variants.map((variant) => ({ ...variant, parts: new Array<Part>() }));
  for (const { part } of all) await part();
  for (let round = 0; round < rounds; round += 1) {
    for (const { part, parts } of round % 2 === 0 ? all : all.toReversed()) parts.push(await part());
  }
  return Object.fromEntries(all.map(({ name, parts }) => [name, parts]));
}

/** @param cpuMs before and after, of so many */
export function partOf(
  done: number,
  elapsedMs: number,
  [before, after]: readonly [number | undefined, number | undefined],
): Part {
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / done;
  return { perSecond: (done * 1000) / elapsedMs, cpuUs };
}

/** The ratio of two variants, round by round: their absolute figures say little on a shared machine. */
export function ratio(name: string, rounds: Rounds, of: string, to: string, target?: Target): Figure {
  const base = rounds[to] ?? [];
  const ratios = (rounds[of] ?? []).map(
    ({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? Number.NaN),
  );
  return figure(name, ratios, 'x', target);
}

/** The same of what each does in a second of its own processor time; nothing where the system does not tell that. */
export function ratioPerCore(
  name: string,
  rounds: Rounds,
  of: string,
  to: string,
  target?: Target,
): Figure[] {
  const base = rounds[to] ?? [];
  const ratios = (rounds[of] ?? []).flatMap(({ cpuUs }, round) => {
    const baseUs = base[round]?.cpuUs;
    return cpuUs === undefined || baseUs === undefined ? [] : [baseUs / cpuUs];
  });
  return ratios.length === 0 ? [] : [figure(name, ratios, 'x', target)];
}

/** What a variant did, in absolute figures. */
export function absolute(rounds: Rounds, name: string): Figure[] {
  const parts = rounds[name] ?? [];
  const cpu = parts.flatMap(({ cpuUs }) => cpuUs ?? []);
  const rates = parts.map(({ perSecond }) => perSecond);
  return [
    figure(`  ${name}`, rates, '/s'),
    ...(cpu.length === 0 ? [] : [figure(`  ${name}, its processor time a request`, cpu, 'µs')]),
  ];
}

async function measure({ callers, cpuMs }: Variant, forMs: number): Promise<Part> {
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
  return partOf(done, performance.now() - startedAt, [cpuBefore, cpuMs?.()]);
}
