import { Baseline } from './0001-baseline.js';

/** In the order in which they are applied. */
export const migrations = [Baseline];
