import { createAuthProcess, signInForEachCaller } from '../auth/auth-process.ts';
import { TokenCallers } from '../auth/token-callers.ts';
import type { BenchContext } from '../bench-context.ts';
import { measureCallers } from '../rounds.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

const callerCount = 16;

export async function startAuthReplicas(
  context: BenchContext,
  name: string,
  replicas: number,
): Promise<ReplicaSet> {
  const service = await createAuthProcess(context, name);
  await service.start();
  const server = await signInForEachCaller(service, callerCount);
  await addReplicas(service, replicas);
  const callersByReplica = service.origins.map((origin, replica) => {
    const refreshTokens = server.refreshTokens.filter((_, index) => index % replicas === replica);
    return new TokenCallers({ ...server, origin, refreshTokens });
  });
  const allCallers = (operation: 'refresh' | 'introspect') =>
    callersByReplica.flatMap((callers) => callers[operation]);
  return {
    service,
    measurements: {
      refresh: () => measureCallers({ callers: allCallers('refresh'), server: service }, context.eachMs),
      introspection: () =>
        measureCallers({ callers: allCallers('introspect'), server: service }, context.eachMs),
    },
    close: async () => {
      await Promise.all(callersByReplica.map((callers) => callers.close()));
    },
  };
}
