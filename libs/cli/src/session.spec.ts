import { SignInRequiredError } from '@fulfilment/client/oauth';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSuite, type LocalServer, temporaryDir } from './fake-suite.fixture.js';
import { openSuite, savedSession, type Suite } from './session.js';

let dir: ReturnType<typeof temporaryDir>;
let server: FakeSuite & LocalServer;
let suite: Suite;
beforeEach(async () => {
  dir = temporaryDir();
  server = await FakeSuite.start();
  suite = openSuite(`${server.url}/`, { FULFILMENT_CONFIG_DIR: dir.path });
});
afterEach(async () => {
  await server.stop();
  dir.remove();
});

const saveTokens = (refreshToken: string) =>
  suite.files.write(
    'session.json',
    JSON.stringify({ clientId: 'app', tokens: { accessToken: 'old', refreshToken } }),
  );
/** A session of its own, as each process has one. */
const aProcess = () => savedSession(suite.url, suite.files);

describe('the saved session', () => {
  it('is renewed once for two processes, and saved', async () => {
    saveTokens('refresh-0');
    const [first, second] = [aProcess(), aProcess()];
    expect(await Promise.all([first.renew('old'), second.renew('old')])).toEqual(['valid', 'valid']);
    expect(server.refreshes).toEqual(['refresh-0']);
    expect(await aProcess().accessToken()).toBe('valid');
    expect(JSON.parse(suite.files.read('session.json') ?? '')).toMatchObject({
      clientId: 'app',
      tokens: { refreshToken: 'refresh-1' },
    });
  });

  it('requires a sign-in when it was ended, or never began', async () => {
    await expect(aProcess().accessToken()).rejects.toThrow(SignInRequiredError);
    saveTokens('ended');
    await expect(aProcess().renew('old')).rejects.toThrow(SignInRequiredError);
  });

  it('belongs to one suite', () => {
    saveTokens('refresh-0');
    const other = openSuite('https://other.example', { FULFILMENT_CONFIG_DIR: dir.path });
    expect(other.files.read('session.json')).toBeUndefined();
  });
});
