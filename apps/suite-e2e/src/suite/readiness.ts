import { eventually } from '@fulfilment/testing';
import { connect } from 'node:net';
import { send } from './api-client.js';
import { suite } from './the-suite.js';

const askWithinMs = 2_000;

/** Returns once every service says that it is ready, and the gateway reaches both APIs. @throws when it takes longer */
export async function untilReady(withinMs: number): Promise<void> {
  let missing: string[] = [];
  await eventually(
    async () => {
      missing = await notReady();
      return missing.length === 0 ? true : undefined;
    },
    withinMs,
    () => `not ready: ${missing.join(', ')}`,
  );
}

/** Returns once a dependency takes connections again. */
export async function untilDependencyAnswers(name: string, withinMs: number): Promise<void> {
  const { hostname, port } = new URL(suite.dependencies[name] ?? '');
  await eventually(
    () =>
      new Promise<true | undefined>((resolve) => {
        const socket = connect(Number(port), hostname);
        socket.once('connect', () => resolve(true)).once('error', () => resolve(undefined));
        socket.once('connect', () => socket.destroy());
      }),
    withinMs,
    () => `${name} takes no connections`,
  );
}

/** The readiness that a service tells at its own address. */
async function isReady(service: string): Promise<boolean> {
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
