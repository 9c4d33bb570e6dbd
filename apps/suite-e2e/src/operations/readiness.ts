import { eventually } from '@fulfilment/testing';
import { z } from 'zod';
import { send } from '../suite/api-client.js';
import { suite } from '../suite/the-suite.js';

const probeTimeoutMs = 2_000;
const notReadyBody = z.object({ details: z.array(z.object({ field: z.string() })) });

/** Resolves when every service is ready and the gateway reaches both APIs. @throws after the timeout */
export async function untilReady(timeoutMs: number): Promise<void> {
  let missing: string[] = [];
  await eventually(
    async () => {
      missing = await findMissing();
      return missing.length === 0;
    },
    { timeoutMs, describe: () => `not ready: ${missing.join(', ')}` },
  );
}

/** Returns the missing dependencies of a service; empty when it is ready. */
async function missingDependencies(service: string): Promise<string[]> {
  const url = `${suite.services[service]?.url ?? ''}/health/ready`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
    if (response.status === 200) return [];
    const { details } = notReadyBody.parse(await response.json());
    return details.map(({ field }) => `${service} (${field})`);
  } catch {
    return [`${service} (no response)`];
  }
}

/** Returns the missing dependencies of all services, and the APIs that the gateway does not reach. */
async function findMissing(): Promise<string[]> {
  const missing = await Promise.all([
    ...Object.keys(suite.services).map(missingDependencies),
    ...['/store', '/creator'].map(async (api) => ((await isReachable(api)) ? [] : [`gateway ${api}`])),
  ]);
  return missing.flat();
}

async function isReachable(api: string): Promise<boolean> {
  return send('get', `${api}/health/ready`)
    .timeout(probeTimeoutMs)
    .then(
      ({ status }) => status === 200,
      () => false,
    );
}
