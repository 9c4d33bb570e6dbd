import type { DependencyName } from '../dev/dependencies/dependency.ts';
import type { Suite } from '../dev/suite.ts';
import type { Figure } from './figures.ts';

/** A rate limit that no tool reaches: 100 million requests in 1 s. */
export const unlimited = '100000000/1';

/** Stores, sizes and progress of a benchmark run. */
export interface BenchContext {
  /** URLs of the stores. */
  readonly stores: Readonly<Record<DependencyName, string>>;
  readonly rounds: number;
  /** Duration of one sample, for variants that are measured for a time. */
  readonly eachMs: number;
  /** Value of `--rows`: the number of existing rows or of messages, by benchmark. */
  readonly rowCount: number;
  /** The only service to measure, in a benchmark of several services; undefined for all. */
  readonly service?: string | undefined;
  /** The complete suite on the same stores, which only the benchmark `suite` starts. */
  readonly suite: Pick<Suite, 'startAll' | 'status'>;
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
}

/** Runs one benchmark. */
export type Bench = (context: BenchContext) => Promise<readonly Figure[]>;
