import { ServiceUnavailable, toErrorResponse } from '@fulfilment/error-envelope';
import { resolveWithin } from '@fulfilment/runtime';
import { type Request, type Response, Router } from 'express';

/** Nest's token for the checks of a service's connections. */
export const READINESS_CHECKS = Symbol('READINESS_CHECKS');

/** Checks by name. A check rejects or returns false while its dependency is unavailable. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown> | boolean>>;

const checkTimeoutMs = 2_000;
const cacheMs = 1_000;

/** Returns the names of the failed checks. */
export type FindFailedChecks = () => Promise<readonly string[]>;

/**
 * Returns a function that runs all checks, shares a run among concurrent calls, and caches its result for a
 * second: readiness requests need no token and have no quota, and each check costs a query.
 */
export function sharedReadiness(
  checks: ReadinessChecks,
  nowMs: () => number = () => performance.now(),
): FindFailedChecks {
  let current: Promise<readonly string[]> | undefined;
  let sharedUntilMs = -Infinity;
  return () => {
    if (current !== undefined && nowMs() < sharedUntilMs) return current;
    sharedUntilMs = Infinity; // while the checks run
    current = runChecks(checks).finally(() => {
      sharedUntilMs = nowMs() + cacheMs;
    });
    return current;
  };
}

/** Requests continue without Redis and RabbitMQ, but not without PostgreSQL. */
const checksOfServing: readonly string[] = ['postgres'];

/**
 * `/health/live`, `/health/ready` and `/health/serving`: no authentication, no rate limit, no HTTP caching. A
 * load balancer should read `/health/serving`, since an outage of Redis or RabbitMQ must not take every
 * replica out of service.
 */
export function healthRoutes(checks: ReadinessChecks, findFailedChecks: FindFailedChecks): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.get('/live', (_request: Request, response: Response) => {
    response.json({ status: 'ok' });
  });
  router.get('/ready', async (_request: Request, response: Response) => {
    respond(response, Object.keys(checks), await findFailedChecks());
  });
  router.get('/serving', async (_request: Request, response: Response) => {
    const failed = await findFailedChecks();
    const isRelevant = (name: string): boolean => checksOfServing.includes(name);
    respond(response, Object.keys(checks).filter(isRelevant), failed.filter(isRelevant));
  });
  return router;
}

function respond(response: Response, checks: readonly string[], failed: readonly string[]): void {
  if (failed.length === 0) {
    response.json({ status: 'ok', checks: Object.fromEntries(checks.map((name) => [name, 'ok'])) });
    return;
  }
  const { status, headers, body } = toErrorResponse(
    new ServiceUnavailable(
      'The service is not ready.',
      failed.map((field) => ({ field, reason: 'unavailable' })),
    ),
  );
  response.set(headers).status(status).json(body);
}

/** Runs checks concurrently. Returns the names of the failed ones. */
async function runChecks(checks: ReadinessChecks): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, ok: await passes(check) })),
  );
  return results.filter(({ ok }) => !ok).map(({ name }) => name);
}

async function passes(check: () => Promise<unknown> | boolean): Promise<boolean> {
  try {
    return (await resolveWithin(checkTimeoutMs, Promise.resolve(check()), () => false)) !== false;
  } catch {
    return false;
  }
}
