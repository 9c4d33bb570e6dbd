import { SignInRequiredError } from '@fulfilment/client/oauth';
import { jest } from '@jest/globals';
import { eventually } from '@fulfilment/testing';
import { FakeSuite, type LocalServer, temporaryDir } from '../fake-suite.fixture.js';
import { login, logout, openSuite, savedSession, type Suite } from './session.js';

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

  it('is ended by a logout only after a refresh that another process has begun', async () => {
    saveTokens('refresh-0');
    const done: string[] = [];
    const lock = jest.spyOn(suite.files, 'exclusively');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const refreshed = suite.files.exclusively('session.json', async () => {
      await released;
      done.push('refreshed');
    });
    const ended = logout(suite).then(() => done.push('logged out'));
    // Until the logout waits for the lock, or has ended because it does not.
    await eventually(() => lock.mock.calls.length === 2 || done.length > 0);
    release();
    await Promise.all([refreshed, ended]);
    expect(done).toEqual(['refreshed', 'logged out']);
  });

  it('is ended by a logout, also when the suite no longer knows the app', async () => {
    saveTokens('refresh-0');
    expect(await logout(suite)).toBe(true);
    expect(server.revoked).toContain('refresh-0');
    saveTokens('refresh-0');
    server.clientId = 'another';
    expect(await logout(suite)).toBe(true);
    expect(await logout(suite)).toBe(false);
  });

  it('belongs to one suite', () => {
    saveTokens('refresh-0');
    const other = openSuite('https://other.example', { FULFILMENT_CONFIG_DIR: dir.path });
    expect(other.files.read('session.json')).toBeUndefined();
  });
});

describe('the registered app', () => {
  /** Starts a login that is aborted after the registration, and before the sign-in. */
  const abortedLogin = () =>
    expect(login(suite, () => undefined, AbortSignal.abort(new Error('Stopped.')))).rejects.toThrow(
      'Stopped.',
    );

  it('is re-registered when the suite no longer knows it', async () => {
    saveTokens('refresh-0');
    server.clientId = 'another';
    await abortedLogin();
    expect(JSON.parse(suite.files.read('session.json') ?? '')).toEqual({ clientId: 'another' });
  });

  it.each(['{', '{"clientId":7}'])('is re-registered when the session file is damaged: %s', async (text) => {
    suite.files.write('session.json', text);
    await abortedLogin();
    expect(JSON.parse(suite.files.read('session.json') ?? '')).toEqual({ clientId: 'app' });
  });
});
