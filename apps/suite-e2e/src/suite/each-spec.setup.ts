import { documented } from './documented.js';
import { closeConnections } from './fetch-from-suite.js';

/**
 * Fails the test after which an undocumented response is found, even if the test caught its error, or
 * `beforeAll` received it.
 */
afterEach(() => {
  expect(documented.takeViolations()).toEqual([]);
});

afterAll(() => closeConnections());
