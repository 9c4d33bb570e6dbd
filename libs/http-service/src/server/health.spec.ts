import express from 'express';
import request from 'supertest';
import { healthRoutes, sharedReadiness } from './health.js';

describe('sharedReadiness', () => {
  let nowMs: number;
  let runs: number;
  let isUp: boolean;
  let finish: () => void;
  beforeEach(() => {
    nowMs = 0;
    runs = 0;
    isUp = true;
  });

  /** Readiness with a check that ends when the test calls `finish`. */
  const slowCheck = () =>
    sharedReadiness(
      {
        postgres: () => {
          runs += 1;
          return new Promise<boolean>((resolve) => {
            finish = () => resolve(isUp);
          });
        },
      },
      () => nowMs,
    );

  it('runs one check for all requests that arrive while it runs', async () => {
    const findFailedChecks = slowCheck();
    const waiting = Array.from({ length: 100 }, () => findFailedChecks());
    nowMs = 1_500; // longer than a result is kept
    waiting.push(findFailedChecks());
    finish();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => []));
    expect(runs).toBe(1);
  });

  it.each([true, false])('caches a result (%s) for a second, then checks once more', async (wasUp) => {
    const findFailedChecks = slowCheck();
    isUp = wasUp;
    const first = findFailedChecks();
    finish();
    const failed = await first;
    expect(failed).toEqual(wasUp ? [] : ['postgres']);
    isUp = !wasUp;
    nowMs = 999;
    expect(await findFailedChecks()).toEqual(failed);
    expect(runs).toBe(1);
    nowMs = 1_000;
    const second = findFailedChecks();
    finish();
    expect(await second).toEqual(wasUp ? ['postgres'] : []);
    expect(runs).toBe(2);
  });

  it('counts a check that throws as failed', async () => {
    const findFailedChecks = sharedReadiness({
      redis: () => {
        throw new Error('away');
      },
    });
    expect(await findFailedChecks()).toEqual(['redis']);
  });
});

describe('the health routes', () => {
  const checks = { postgres: () => true, redis: () => true, rabbitmq: () => true };
  const get = (path: string, failed: readonly string[]) =>
    request(express().use(healthRoutes(checks, () => Promise.resolve(failed)))).get(path);

  it.each([
    { failed: [], serving: 200, ready: 200 },
    { failed: ['redis', 'rabbitmq'], serving: 200, ready: 503 },
    { failed: ['postgres'], serving: 503, ready: 503 },
    { failed: ['postgres', 'redis', 'rabbitmq'], serving: 503, ready: 503 },
  ])(
    'respond with $serving at /serving, $ready at /ready and 200 at /live while the checks $failed fail',
    async ({ failed, serving, ready }) => {
      await get('/serving', failed).expect(serving);
      await get('/ready', failed).expect(ready);
      await get('/live', failed).expect(200);
    },
  );
});
