import { Baseline } from './0001-baseline.js';
import { TestCreators } from './0002-test-creators.js';
import { ConsentsOfCreator } from './0003-consents-of-creator.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, TestCreators, ConsentsOfCreator];
