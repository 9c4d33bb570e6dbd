import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from '../bench-database.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import { alternate, type Part, ratio, type Rounds } from '../rounds.ts';

/** Time after which all PostgreSQL processes have reported the pages that they read. */
const reportedAfterMs = 11_000;
/** Maximum factor by which a path may be slower with many rows. */
const maxSlowdown = 1.5;

/** A value for a database with few rows and one for a database with many. */
export interface Sizes<Value> {
  readonly small: Value;
  readonly large: Value;
}

/**
 * A part of a round of a path.
 * @param count is called with the number of completed requests
 */
export type CountedPart = (count: (requests: number) => void) => Promise<Part>;

/** Measures each path with both databases, in alternating rounds. */
export async function comparePaths(
  site: BenchSite,
  databases: Sizes<BenchDatabase>,
  paths: Readonly<Record<string, Sizes<CountedPart>>>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const start = await idlePages(databases);
  const { idle } = start;
  let { before } = start;
  for (const [name, { small, large }] of Object.entries(paths)) {
    const requests = { small: 0, large: 0 };
    const parts = [
      { name: 'small', part: () => small((count) => (requests.small += count)) },
      { name: 'large', part: () => large((count) => (requests.large += count)) },
    ];
    const rounds = await site.step(name, () => alternate(parts, site.rounds));
    const after = await pagesOf(databases);
    figures.push(...figuresOf(name, rounds, perRequest({ before, after, idle }, requests)));
    before = after;
  }
  return figures;
}

/** Pages read before and after a measurement, and while idle, because services also poll. */
interface Reads {
  readonly before: Pages;
  readonly after: Pages;
  /** Pages per ms that are read without requests. */
  readonly idle: Sizes<number>;
}

/** Returns the pages that were read for a request. */
export function perRequest({ before, after, idle }: Reads, requests: Sizes<number>): Sizes<number> {
  const elapsedMs = after.atMs - before.atMs;
  const pages = (size: keyof Sizes<number>): number =>
    (after[size] - before[size] - idle[size] * elapsedMs) / requests[size];
  return { small: pages('small'), large: pages('large') };
}

/** @param pages that PostgreSQL read for a request, from memory or not */
export function figuresOf(name: string, rounds: Rounds, pages?: Sizes<number>): Figure[] {
  const speed = ratio(name, rounds, 'large', 'small', { atLeast: 1 / maxSlowdown });
  if (pages === undefined) return [speed];
  return [
    speed,
    // Without a target: what the service reads on its own varies, and counts if requests are few.
    figure('  pages read for it, of those', [pages.large / pages.small], 'x'),
    figure('  pages read for it', [pages.large], 'pages'),
  ];
}

export interface Pages extends Sizes<number> {
  readonly atMs: number;
}

/** Returns how many pages statements have read so far, from memory or not. */
export async function pagesOf({ small, large }: Sizes<BenchDatabase>): Promise<Pages> {
  await sleep(reportedAfterMs);
  return { small: await small.pagesRead(), large: await large.pagesRead(), atMs: performance.now() };
}

/** Measures the pages that are read per ms without requests. */
export async function idlePages(databases: Sizes<BenchDatabase>): Promise<Pick<Reads, 'before' | 'idle'>> {
  const first = await pagesOf(databases);
  const before = await pagesOf(databases);
  const elapsedMs = before.atMs - first.atMs;
  const perMs = (size: keyof Sizes<number>): number => (before[size] - first[size]) / elapsedMs;
  return { before, idle: { small: perMs('small'), large: perMs('large') } };
}
