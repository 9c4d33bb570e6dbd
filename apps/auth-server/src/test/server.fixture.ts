import { type RunningServer, startAuthServer } from './running-server.fixture.js';

/** The server of the spec file, while its tests run. */
export let server: RunningServer;

/**
 * Starts auth-server before the tests of the spec file, and stops it after them. Call it at the top level.
 * @param settings that differ from those of most tests (running-server.fixture.ts)
 * @param proxies returns the proxies to the stores, which an earlier `beforeAll` has started
 */
export function startServer(
  settings: Readonly<Record<string, string>> = {},
  proxies?: () => Parameters<typeof startAuthServer>[1],
): void {
  beforeAll(async () => {
    server = await startAuthServer(settings, proxies?.());
  });
  afterAll(() => server.stop());
}
