import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisConnection } from '@fulfilment/http-service';
import { createLogger } from '@fulfilment/runtime';
import { eventually, storeUrl } from '@fulfilment/testing';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { SignInThrottle } from './sign-in-throttle.js';

let redis: RedisConnection;
beforeAll(async () => {
  redis = new RedisConnection(storeUrl('TEST_REDIS_URL'), createLogger('auth-server', 'fatal'));
  await eventually(() => redis.client.status === 'ready' || undefined); // until then nothing is counted
});
afterAll(() => redis.stop());

const requests = 3;
const throttle = () => new SignInThrottle(redis, { requests, windowSeconds: 60 });
const wrong = () => Promise.resolve(undefined);
const right = () => Promise.resolve('somebody');
const randomAddress = () => `198.51.${randomInt(256)}.${randomInt(256)}`;

it('looks at no more guesses than may fail, then tells how long to wait', async () => {
  const [account, ip] = [randomUUID(), randomAddress()];
  const guesses = Array.from({ length: 9 }, () => throttle().guess(account, ip, wrong));
  const kinds = (await Promise.all(guesses)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(requests);
  const locked = await throttle().guess(account, ip, right);
  expect(locked.kind).toBe('locked');
  expect(locked.kind === 'locked' && locked.waitSeconds > 0 && locked.waitSeconds <= 60).toBe(true);
});

it('lets the account start afresh after a right guess, not the address', async () => {
  const [account, ip] = [randomUUID(), randomAddress()];
  await throttle().guess(account, ip, wrong);
  await throttle().guess(account, ip, wrong);
  expect(await throttle().guess(account, ip, right)).toEqual({ kind: 'right', found: 'somebody' });
  await throttle().guess(account, ip, wrong);
  expect((await throttle().guess(account, randomAddress(), right)).kind).toBe('right');
  expect((await throttle().guess(randomUUID(), ip, right)).kind).toBe('locked');
});

it('counts nothing for a guess that could not be looked at', async () => {
  const [account, ip] = [randomUUID(), randomAddress()];
  const away = () => Promise.reject(new Error('The store is away.'));
  for (let guess = 0; guess <= requests; guess += 1)
    await expect(throttle().guess(account, ip, away)).rejects.toThrow('away');
  expect((await throttle().guess(account, ip, right)).kind).toBe('right');
});

it('counts the failures of every address of one IPv6 /64 together', async () => {
  const network = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`;
  for (let host = 1; host <= requests; host += 1)
    await throttle().guess(randomUUID(), `${network}::${host}`, wrong);
  expect((await throttle().guess(randomUUID(), `${network}::ffff`, right)).kind).toBe('locked');
});
