import type { DependencyName } from '../dev/dependencies/dependency.ts';
import type { Suite } from '../dev/suite.ts';
import type { Figure } from './figures.ts';

/** A rate limit that no benchmark reaches. */
export const unlimited = '100000000/1';

/** Stores and amounts of a benchmark. */
export interface BenchSite {
  readonly stores: Readonly<Record<DependencyName, string>>;
  readonly rounds: number;
  readonly eachMs: number;
  /** Number of old rows in addition to the live ones. */
  readonly oldRows: number;
  /** Restricts a benchmark of several services to this one. */
  readonly service?: string | undefined;
  /** The complete suite on these stores. */
  readonly suite: Pick<Suite, 'startAll' | 'status'>;
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
}

/** Measures a service against its baseline in one run. */
export type Bench = (site: BenchSite) => Promise<readonly Figure[]>;
