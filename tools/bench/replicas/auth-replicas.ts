import { authProcess, signInEach } from '../auth/auth-process.ts';
import { TokenCallers } from '../auth/token-callers.ts';
import type { BenchSite } from '../bench-site.ts';
import { measure } from '../rounds.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

const callerCount = 16;

export async function authReplicas(site: BenchSite, name: string, replicas: number): Promise<ReplicaSet> {
  const service = await authProcess(site, name);
  await service.start();
  const server = await signInEach(service, callerCount);
  await addReplicas(service, replicas);
  const clients = service.origins.map((origin, replica) => {
    const refreshTokens = server.refreshTokens.filter((_, index) => index % replicas === replica);
    return new TokenCallers({ ...server, origin, refreshTokens });
  });
  const cpuMs = () => service.cpuMs();
  const callersOf = (which: 'refresh' | 'introspect') => clients.flatMap((each) => each[which]);
  return {
    service,
    parts: {
      refresh: () => measure({ callers: callersOf('refresh'), cpuMs }, site.eachMs),
      introspection: () => measure({ callers: callersOf('introspect'), cpuMs }, site.eachMs),
    },
    close: async () => {
      await Promise.all(clients.map((each) => each.close()));
    },
  };
}
