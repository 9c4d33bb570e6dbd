import { eventually } from '@fulfilment/testing';
import { connect } from 'node:net';
import { z } from 'zod';
import { send } from './api-client.js';
import { suite } from './the-suite.js';

const askWithinMs = 2_000;
const notReadyAnswer = z.object({ details: z.array(z.object({ field: z.string() })) });

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

/** What a service says at its own address that it lacks; nothing when it is ready. */
async function lacking(service: string): Promise<string[]> {
  const url = `${suite.services[service]?.url ?? ''}/health/ready`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(askWithinMs) });
    if (answer.status === 200) return [];
    const { details } = notReadyAnswer.parse(await answer.json());
    return details.map(({ field }) => `${service} (${field})`);
  } catch {
    return [`${service} (no answer)`];
  }
}

async function notReady(): Promise<string[]> {
  const asked = await Promise.all([
    ...Object.keys(suite.services).map(lacking),
    ...['/store', '/creator'].map(async (api) => ((await reached(api)) ? [] : [`gateway ${api}`])),
  ]);
  return asked.flat();
}

async function reached(api: string): Promise<boolean> {
  return send('get', `${api}/health/ready`)
    .timeout(askWithinMs)
    .then(
      ({ status }) => status === 200,
      () => false,
    );
}
