import { Baseline } from './0001-baseline.js';
import { TestCreators } from './0002-test-creators.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, TestCreators];
