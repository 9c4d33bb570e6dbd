import type { DependencyName } from '../dev/dependencies/dependency.ts';
import type { Figure } from './figures.ts';

/** What a benchmark is given: stores of its own and how much to do. */
export interface BenchSite {
  readonly stores: Readonly<Record<DependencyName, string>>;
  readonly rounds: number;
  readonly eachMs: number;
  /** Old rows beside the live ones. */
  readonly oldRows: number;
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
}

/** Measures one service against a base line of its own, in one run. */
export type Bench = (site: BenchSite) => Promise<readonly Figure[]>;
