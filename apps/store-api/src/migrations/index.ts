import { Baseline } from './0001-baseline.js';
import { TestMode } from './0002-test-mode.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, TestMode];
