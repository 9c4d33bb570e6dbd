import {
  createStoreClient,
  memoryTokenStore,
  readOrder,
  Session,
  SignInRequiredError,
  type Tokens,
  type TokenStore,
} from './store.js';
import { failure, FakeApi, json, type Reply } from './fake-api.fixture.js';

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

const path = { id: 'ord_1' };
const first: Tokens = { accessToken: 'at_1', refreshToken: 'rt_1' };

/** Returns a reply that accepts only this token. */
function accepting(token: string): Reply {
  return (response, request) => {
    const isAccepted = request.headers.authorization === `Bearer ${token}`;
    (isAccepted ? json(200, { id: 'ord_1' }) : failure(401, 'UNAUTHORIZED'))(response, request);
  };
}

/** Returns a store that records what is saved, and a `refresh` that accepts each refresh token once. */
function signedIn(tokens = first) {
  const memory = memoryTokenStore(tokens);
  const saved: Tokens[] = [];
  const used: string[] = [];
  const store: TokenStore = {
    load: () => memory.load(),
    save: (next) => {
      saved.push(next);
      return memory.save(next);
    },
  };
  const refresh = (refreshToken: string): Promise<Tokens> => {
    if (used.includes(refreshToken)) return Promise.reject(new SignInRequiredError('It was used.'));
    used.push(refreshToken);
    const number = used.length + 1;
    return Promise.resolve({ accessToken: `at_${number}`, refreshToken: `rt_${number}` });
  };
  return { store, saved, used, refresh };
}

describe('a session', () => {
  it('refreshes once for two concurrent requests with a rejected token, and saves the new tokens once', async () => {
    const { store, saved, used, refresh } = signedIn();
    api.reply(accepting('at_2'));
    const client = createStoreClient({ ...api.options(), auth: new Session({ store, refresh }) });
    await Promise.all([readOrder({ client, path }), readOrder({ client, path })]);
    expect(used).toEqual(['rt_1']);
    expect(saved).toEqual([{ accessToken: 'at_2', refreshToken: 'rt_2' }]);
    expect(api.requests).toHaveLength(4); // two with the rejected token, two with the new one
  });

  it('refreshes once for concurrent renewals of two tabs that share a store and a lock', async () => {
    const { store, saved, used, refresh } = signedIn();
    const tab = () => new Session({ store, refresh, lockName: 'suite app' });
    expect(await Promise.all([tab().renew('at_1'), tab().renew('at_1')])).toEqual(['at_2', 'at_2']);
    expect(used).toEqual(['rt_1']);
    expect(saved).toHaveLength(1);
  });

  it('does not refresh for a token that was already replaced', async () => {
    const { store, used, refresh } = signedIn();
    const session = new Session({ store, refresh });
    await session.renew('at_1');
    expect(await session.renew('at_1')).toBe('at_2');
    expect(used).toEqual(['rt_1']);
  });

  it('uses the next refresh token for the next refresh', async () => {
    const { store, used, refresh } = signedIn();
    const session = new Session({ store, refresh });
    expect(await session.renew(await session.renew('at_1'))).toBe('at_3');
    expect(used).toEqual(['rt_1', 'rt_2']);
  });

  it('refreshes the current token also during a renewal that only finds it', async () => {
    const { store, used, refresh } = signedIn();
    const session = new Session({ store, refresh });
    const renewals = [session.renew('at_0'), session.renew('at_1'), session.renew('at_0')];
    expect(await Promise.all(renewals)).toEqual(['at_1', 'at_2', 'at_1']);
    expect(used).toEqual(['rt_1']);
  });

  it('keeps the refresh token if the response has no new one', async () => {
    const { store, saved } = signedIn();
    const session = new Session({ store, refresh: () => Promise.resolve({ accessToken: 'at_2' }) });
    await session.renew('at_1');
    expect(saved).toEqual([{ accessToken: 'at_2', refreshToken: 'rt_1' }]);
  });

  it.each([
    ['returns the stored token 30 s before it expires', 1_030_000, 'at_1'],
    ['renews the stored token less than 30 s before it expires', 1_029_999, 'at_2'],
  ])('%s', async (_title, expiresAtMs, returned) => {
    const { store, refresh } = signedIn({ ...first, expiresAtMs });
    expect(await new Session({ store, refresh, now: () => 1_000_000 }).accessToken()).toBe(returned);
  });

  it('returns no token that could not be saved, because the next refresh token would be lost', async () => {
    const { store, refresh } = signedIn();
    const failing = { ...store, save: () => Promise.reject(new Error('The disk is full.')) };
    await expect(new Session({ store: failing, refresh }).renew('at_1')).rejects.toThrow('The disk is full.');
  });

  it('throws SignInRequiredError without tokens, and at a renewal without a refresh token', async () => {
    const { refresh } = signedIn();
    const signedOut = new Session({ store: memoryTokenStore(), refresh });
    await expect(signedOut.accessToken()).rejects.toThrow(SignInRequiredError);
    const notRenewable = new Session({ store: memoryTokenStore({ accessToken: 'at_1' }), refresh });
    await expect(notRenewable.renew('at_1')).rejects.toThrow(SignInRequiredError);
  });

  it('refreshes at the next renewal after a failed refresh', async () => {
    const { store, refresh } = signedIn();
    let isDown = true;
    const session = new Session({
      store,
      refresh: (token) => (isDown ? Promise.reject(new Error('It is down.')) : refresh(token)),
    });
    await expect(session.renew('at_1')).rejects.toThrow('It is down.');
    isDown = false;
    expect(await session.renew('at_1')).toBe('at_2');
  });
});
