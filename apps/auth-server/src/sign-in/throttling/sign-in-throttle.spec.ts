import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { migrations } from '../../migrations/index.js';
import { writeCountedRecords } from '../../audit/counted-records.js';
import { GuessCounts } from './guess-counts.js';
import {
  accountKey,
  codeGuessTarget,
  confirmationGuessTarget,
  type GuessTarget,
  passwordGuessTarget,
} from './guess-target.rules.js';
import { SignInThrottle } from './sign-in-throttle.js';
import { testStatement } from '../../test/test-statement.fixture.js';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
});
afterAll(() => scratch.drop());

/** Failures that the limit allows. */
const maxFailures = 3;
/** Returns a new throttle, as another replica has. */
const throttle = () =>
  new SignInThrottle(scratch.database, new GuessCounts(scratch.database), {
    SIGN_IN_FAILURES: { requests: maxFailures, windowSeconds: 60 },
  });
const context = (address = '198.51.100.1') => ({
  origin: { ip: address, userAgent: 'a test' },
  auditIfLocked: { event: 'sign_in_locked' } as const,
});
const wrong = () => Promise.resolve(undefined);
const correct = () => Promise.resolve('somebody');
const randomAddress = () => `198.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
const signInGuess = (account: string, address: string, device?: string) =>
  passwordGuessTarget({ account, address, device });
const guess = (target: GuessTarget, check: () => Promise<string | undefined>) =>
  throttle().guess(target, context(), check);
/** Makes as many wrong guesses as the limit allows. */
async function useUpFailures(target: () => GuessTarget): Promise<void> {
  for (let count = 0; count < maxFailures; count += 1) await guess(target(), wrong);
}
const kindsOf = async (guesses: readonly Promise<{ kind: string }>[]) =>
  (await Promise.all(guesses)).map(({ kind }) => kind);
const run = (text: string, values: readonly unknown[] = []) =>
  scratch.database.run(testStatement(text), values);
async function newUserId(): Promise<string> {
  const id = randomUUID();
  await run(`INSERT INTO users (id, email, password_hash) VALUES ($1::uuid, $1::uuid || '@a.example', '')`, [
    id,
  ]);
  return id;
}

describe('an account that is attacked from one network', () => {
  it('gets only as many checks as the limit allows when 12 replicas receive guesses concurrently, and then a wait time', async () => {
    const target = signInGuess(randomUUID(), randomAddress());
    const kinds = await kindsOf(Array.from({ length: 12 }, () => guess(target, wrong)));
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(maxFailures);
    const locked = await guess(target, correct);
    if (locked.kind !== 'locked') throw new Error('The guess was not locked.');
    expect(locked.waitSeconds).toBeGreaterThan(0);
    expect(locked.waitSeconds).toBeLessThanOrEqual(60);
  });

  it('has no failures after a correct guess, while those of the network remain', async () => {
    const [account, address] = [randomUUID(), randomAddress()];
    await guess(signInGuess(account, address), wrong);
    await guess(signInGuess(account, address), wrong);
    expect(await guess(signInGuess(account, address), correct)).toEqual({
      kind: 'correct',
      result: 'somebody',
    });
    await guess(signInGuess(account, address), wrong); // the third failure of the network
    expect((await guess(signInGuess(randomUUID(), address), correct)).kind).toBe('locked');
  });

  it('counts nothing for a guess that could not be checked', async () => {
    const target = signInGuess(randomUUID(), randomAddress());
    const fail = () => Promise.reject(new Error('PostgreSQL is unavailable.'));
    for (let count = 0; count <= maxFailures; count += 1)
      await expect(guess(target, fail)).rejects.toThrow('unavailable');
    expect((await guess(target, correct)).kind).toBe('correct');
  });

  it('allows guesses when the window is over', async () => {
    const target = signInGuess(randomUUID(), randomAddress());
    await useUpFailures(() => target);
    expect((await guess(target, correct)).kind).toBe('locked');
    await run(`UPDATE guess_counts SET expires_at = now(), failed_at = now() - interval '1 hour'`);
    expect((await guess(target, correct)).kind).toBe('correct');
  });
});

describe('an account that is attacked from many networks', () => {
  it('gets only the allowed checks and one after each delay when 40 networks guess concurrently', async () => {
    const account = randomUUID();
    const startedAtMs = performance.now();
    const kinds = await kindsOf(
      Array.from({ length: 40 }, () => guess(signInGuess(account, randomAddress()), wrong)),
    );
    const seconds = (performance.now() - startedAtMs) / 1_000;
    const checks = kinds.filter((kind) => kind === 'wrong').length;
    expect(checks).toBeGreaterThanOrEqual(maxFailures);
    // The delays are 1, 2, 4 … seconds: after n of them, 2 ** n - 1 seconds have passed.
    expect(checks).toBeLessThanOrEqual(maxFailures + Math.floor(Math.log2(seconds + 1)));
  });

  it('gets one guess after a delay instead of a lock for the whole window', async () => {
    const account = randomUUID();
    await useUpFailures(() => signInGuess(account, randomAddress()));
    const setLastFailure = (sql: string) =>
      run(`UPDATE guess_counts SET failed_at = ${sql} WHERE subject = $1`, [`everywhere:${account}`]);
    await setLastFailure(`now() + interval '1 minute'`); // so that the delay is not over during the test
    expect((await guess(signInGuess(account, randomAddress()), correct)).kind).toBe('locked');
    await setLastFailure(`now() - interval '2 seconds'`);
    expect((await guess(signInGuess(account, randomAddress()), correct)).kind).toBe('correct');
  });

  it('has one count of the locked attempts from all networks (ADR 29)', async () => {
    const account = randomUUID();
    await useUpFailures(() => signInGuess(account, randomAddress()));
    // So that the delay is not over during the test.
    await run(`UPDATE guess_counts SET failed_at = now() + interval '1 minute' WHERE subject = $1`, [
      `everywhere:${account}`,
    ]);
    for (let count = 0; count < 5; count += 1)
      expect((await guess(signInGuess(account, randomAddress()), wrong)).kind).toBe('locked');
    const counted = await scratch.database.rows(
      testStatement(
        `SELECT subject, locked_attempts FROM guess_counts WHERE locked_attempts > 0 AND subject LIKE '%' || $1 || '%'`,
      ),
      [account],
    );
    expect(counted).toEqual([{ subject: `everywhere:${account}`, locked_attempts: 5 }]);
  });

  it('stays open to the browser that signed in before', async () => {
    const account = randomUUID();
    await useUpFailures(() => signInGuess(account, randomAddress()));
    const address = randomAddress();
    await useUpFailures(() => signInGuess(randomUUID(), address));
    const device = randomUUID();
    expect((await guess(signInGuess(account, address), correct)).kind).toBe('locked');
    expect((await guess(signInGuess(account, address, device), correct)).kind).toBe('correct');
    await useUpFailures(() => signInGuess(account, address, device));
    expect((await guess(signInGuess(account, address, device), correct)).kind).toBe('locked');
  });
});

describe('a network', () => {
  it('counts the addresses of one IPv6 /64 as one, and allows a /56 four times as many failures', async () => {
    const prefix = `2001:db8:${randomBytes(2).toString('hex')}`;
    for (let host = 1; host <= maxFailures; host += 1)
      await guess(signInGuess(randomUUID(), `${prefix}:ab01::${host}`), wrong);
    expect((await guess(signInGuess(randomUUID(), `${prefix}:ab01::ffff`), correct)).kind).toBe('locked');
    // Other networks of the same /56: ab10, ab11, … With those of ab01, these are four times the failures.
    for (let network = 0; network < 3 * maxFailures; network += 1)
      await guess(signInGuess(randomUUID(), `${prefix}:ab${(16 + network).toString(16)}::1`), wrong);
    expect((await guess(signInGuess(randomUUID(), `${prefix}:abff::1`), correct)).kind).toBe('locked');
  });

  it('may fail as often as its own limit, and as often again for each account that signed in from it', async () => {
    const address = randomAddress();
    for (let person = 0; person < 4; person += 1) await throttle().recordSignIn(address, await newUserId());
    const kinds = [];
    // Its own limit, and one more for each of the four accounts (networkLimit).
    for (let count = 0; count < 5 * maxFailures; count += 1)
      kinds.push((await guess(signInGuess(randomUUID(), address), wrong)).kind);
    expect(new Set(kinds)).toEqual(new Set(['wrong']));
    expect((await guess(signInGuess(randomUUID(), address), correct)).kind).toBe('locked');
  });

  it('is not unlocked by one account that signs in there repeatedly', async () => {
    const [address, own] = [randomAddress(), await newUserId()];
    const kinds = [];
    for (let count = 0; count < 4 * maxFailures; count += 1) {
      await throttle().recordSignIn(address, own);
      kinds.push((await guess(signInGuess(randomUUID(), address), wrong)).kind);
    }
    // Its own limit, and one more for the one account, however often it signs in.
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(2 * maxFailures);
  });

  it('causes no rows for the names that it sends while it is locked, and one audit record of all attempts', async () => {
    const address = randomAddress();
    await useUpFailures(() => signInGuess(randomUUID(), address));
    const names = Array.from({ length: 20 }, () => randomUUID());
    for (const name of names) await throttle().guess(signInGuess(name, address), context(address), wrong);
    const rows = await scratch.database.rows(
      testStatement('SELECT 1 FROM guess_counts WHERE subject ~ ANY ($1)'),
      [names],
    );
    expect(rows).toEqual([]);
    const records = () =>
      scratch.database.rows<{ details: unknown }>(
        testStatement(`SELECT event, user_id, details FROM audit_log WHERE ip = $1`),
        [address],
      );
    await writeCountedRecords(scratch.database);
    expect(await records()).toEqual([]); // the window is not over
    await run(`UPDATE guess_counts SET locked_until = now()`);
    await writeCountedRecords(scratch.database);
    await writeCountedRecords(scratch.database); // has nothing more to write
    expect(await records()).toEqual([
      { event: 'sign_in_locked', user_id: null, details: { count: 20, since: expect.any(String) } },
    ]);
  });
});

it('guesses at codes and at the password of an open session are counted separately from sign-ins', async () => {
  const [userId, address] = [randomUUID(), randomAddress()];
  const account = accountKey({ canonical: '', user: { id: userId } });
  await useUpFailures(() => signInGuess(account, randomAddress()));
  const codes = codeGuessTarget({ userId, address, device: undefined });
  const session = confirmationGuessTarget(randomUUID());
  expect(await kindsOf([guess(codes, correct), guess(session, correct)])).toEqual(['correct', 'correct']);
  for (let count = 0; count < maxFailures; count += 1) {
    await guess(codes, wrong);
    await guess(session, wrong);
  }
  expect(await kindsOf([guess(codes, correct), guess(session, correct)])).toEqual(['locked', 'locked']);
});

it('expired counts are deleted, unless a guess is in progress or locked attempts are not yet in the audit log', async () => {
  const expired = signInGuess(randomUUID(), randomAddress());
  await guess(expired, wrong);
  const busy = signInGuess(randomUUID(), randomAddress());
  const unwritten = randomUUID();
  await run('INSERT INTO guess_counts (subject, locked_attempts, locked_until) VALUES ($1, 1, now())', [
    unwritten,
  ]);
  await guess(busy, async () => {
    await run(`UPDATE guess_counts SET expires_at = now() - interval '1 second'`);
    await run(`UPDATE guess_counts SET trying_until = now() - interval '1 second' WHERE trying = 0`);
    await new GuessCounts(scratch.database).deleteExpired(scratch.database);
    return 'somebody';
  });
  const left = await scratch.database.rows<{ subject: string }>(
    testStatement('SELECT subject FROM guess_counts WHERE subject = ANY ($1)'),
    [[expired.narrowest, busy.narrowest, unwritten]],
  );
  expect(new Set(left.map(({ subject }) => subject))).toEqual(new Set([busy.narrowest, unwritten]));
});
