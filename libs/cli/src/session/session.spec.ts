import { SignInRequiredError } from '@fulfilment/client/oauth';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSuite, type LocalServer, temporaryDir } from '../fake-suite.fixture.js';
import { login, openSuite, savedSession, type Suite } from './session.js';

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
/** Returns a separate session, as each process has one. */
const openSession = () => savedSession(suite.url, suite.files);

describe('the saved session', () => {
  it('is renewed and saved once for two processes', async () => {
    saveTokens('refresh-0');
    const write = jest.spyOn(suite.files, 'write');
    const [first, second] = [openSession(), openSession()];
    expect(await Promise.all([first.renew('old'), second.renew('old')])).toEqual(['valid', 'valid']);
    expect(server.refreshes).toEqual(['refresh-0']);
    expect(write).toHaveBeenCalledTimes(1); // a later write could replace the tokens of another process
    expect(await openSession().accessToken()).toBe('valid');
    expect(JSON.parse(suite.files.read('session.json') ?? '')).toMatchObject({
      clientId: 'app',
      tokens: { refreshToken: 'refresh-1' },
    });
  });

  it('requires a sign-in when it was ended, or never began', async () => {
    await expect(openSession().accessToken()).rejects.toThrow(SignInRequiredError);
    saveTokens('ended');
    await expect(openSession().renew('old')).rejects.toThrow(SignInRequiredError);
  });

  it('is kept when another login is stopped', async () => {
    saveTokens('refresh-0');
    const before = suite.files.read('session.json');
    const reason = new Error('The person pressed Ctrl-C.');
    await expect(login(suite, () => undefined, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(suite.files.read('session.json')).toBe(before);
  });

  it('belongs to one suite', () => {
    saveTokens('refresh-0');
    const other = openSuite('https://other.example', { FULFILMENT_CONFIG_DIR: dir.path });
    expect(other.files.read('session.json')).toBeUndefined();
  });
});
