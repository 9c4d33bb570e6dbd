import { eventually } from '@fulfilment/testing';
import { send } from './api-client.js';
import { suite } from './the-suite.js';

const askWithinMs = 2_000;

/** Returns once every service says that it is ready, and the gateway reaches both APIs; answers how long that took. @throws when it takes longer */
export async function untilReady(withinMs: number): Promise<number> {
  const startedAt = performance.now();
  let missing: string[] = [];
  await eventually(
    async () => {
      missing = await notReady();
      return missing.length === 0 ? true : undefined;
    },
    withinMs,
    () => `not ready: ${missing.join(', ')}`,
  );
  return performance.now() - startedAt;
}

/** The readiness that a service tells at its own address. */
export async function isReady(service: string): Promise<boolean> {
  const url = `${suite.services[service]?.url ?? ''}/health/ready`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(askWithinMs) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}

async function notReady(): Promise<string[]> {
  const asked = await Promise.all([
    ...Object.keys(suite.services).map(async (name) => ({ name, ready: await isReady(name) })),
    ...['/store', '/creator'].map(async (api) => ({ name: `gateway ${api}`, ready: await reached(api) })),
  ]);
  return asked.filter(({ ready }) => !ready).map(({ name }) => name);
}

async function reached(api: string): Promise<boolean> {
  return send('get', `${api}/health/ready`)
    .timeout(askWithinMs)
    .then(
      ({ status }) => status === 200,
      () => false,
    );
}
