import { documented } from './documented.js';

/** What a test swallowed with a failed request, or met before it began, fails it all the same. */
afterEach(() => {
  expect(documented.takeFaults()).toEqual([]);
});
