import { documented } from './documented.js';

/** Fails a test also for an undocumented response whose error it caught, or that came before it started. */
afterEach(() => {
  expect(documented.takeFaults()).toEqual([]);
});
