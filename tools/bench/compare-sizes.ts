import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './bench-database.ts';
import type { BenchContext } from './bench-context.ts';
import { figure, type Figure } from './figures.ts';
import { alternate, type Sample, ratio, type Rounds } from './rounds.ts';

/** An idle PostgreSQL process takes up to 10 s to report how many pages it has read. */
const statisticsDelayMs = 11_000;
/** A path (`MeasurePath`) may be slower with many rows by this factor at most. */
const maxSlowdown = 1.5;

/** A value for the database with few rows, and one for the database with many. */
export interface BySize<Value> {
  readonly small: Value;
  readonly large: Value;
}

/**
 * Measures a path once: one kind of request, or the delivery of webhooks, each of which counts as a request.
 * @param onCompleted called with the number of requests since its last call
 */
export type MeasurePath = (onCompleted: (requests: number) => void) => Promise<Sample>;

/** Measures each path with the small and the large database, alternately. */
export async function comparePaths(
  context: BenchContext,
  databases: BySize<BenchDatabase>,
  paths: Readonly<Record<string, BySize<MeasurePath>>>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { idle, before: firstPages } = await measureIdleReads(databases);
  let before = firstPages;
  for (const [name, { small, large }] of Object.entries(paths)) {
    const requests = { small: 0, large: 0 };
    const variants = [
      { name: 'small', measure: () => small((count) => (requests.small += count)) },
      { name: 'large', measure: () => large((count) => (requests.large += count)) },
    ];
    const rounds = await context.step(name, () => alternate(variants, context.rounds));
    const after = await readPages(databases);
    figures.push(...growthFigures(name, rounds, pagesPerRequest({ before, after, idle }, requests)));
    before = after;
  }
  return figures;
}

/** Pages read before and after a measurement. Services also poll, so the idle rate is subtracted. */
interface Reads {
  readonly before: Pages;
  readonly after: Pages;
  /** Pages per ms that are read without requests. */
  readonly idle: BySize<number>;
}

/** Returns the pages that were read per request. */
export function pagesPerRequest({ before, after, idle }: Reads, requests: BySize<number>): BySize<number> {
  const elapsedMs = after.atMs - before.atMs;
  const pages = (size: keyof BySize<number>): number =>
    (after[size] - before[size] - idle[size] * elapsedMs) / requests[size];
  return { small: pages('small'), large: pages('large') };
}

/** Compares the speed of a path. @param pages pages that PostgreSQL read per request, from memory or disk */
export function growthFigures(name: string, rounds: Rounds, pages?: BySize<number>): Figure[] {
  const speed = ratio(
    name,
    rounds,
    { numerator: 'large', denominator: 'small' },
    { atLeast: 1 / maxSlowdown },
  );
  if (pages === undefined) return [speed];
  return [
    speed,
    // Without a target: the reads of background loops vary, so the subtracted rate is inexact.
    figure('  pages read per request, ratio to few rows', [pages.large / pages.small], 'x'),
    figure('  pages read per request', [pages.large], 'pages'),
  ];
}

export interface Pages extends BySize<number> {
  readonly atMs: number;
}

/** Waits for the statistics of PostgreSQL, and returns how many pages statements have read so far. */
export async function readPages({ small, large }: BySize<BenchDatabase>): Promise<Pages> {
  await sleep(statisticsDelayMs);
  return { small: await small.pagesRead(), large: await large.pagesRead(), atMs: performance.now() };
}

/**
 * Measures the pages that are read per ms without requests. Returns the last reading as `before`, from which
 * the first path is measured.
 */
export async function measureIdleReads(
  databases: BySize<BenchDatabase>,
): Promise<Pick<Reads, 'before' | 'idle'>> {
  const first = await readPages(databases);
  const before = await readPages(databases);
  const elapsedMs = before.atMs - first.atMs;
  const perMs = (size: keyof BySize<number>): number => (before[size] - first[size]) / elapsedMs;
  return { before, idle: { small: perMs('small'), large: perMs('large') } };
}
