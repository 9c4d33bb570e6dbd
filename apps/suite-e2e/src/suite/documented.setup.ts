import { documented } from './documented.js';

/** Also fails a test for undocumented responses whose error it caught, or that came before it started. */
afterEach(() => {
  expect(documented.takeFaults()).toEqual([]);
});
