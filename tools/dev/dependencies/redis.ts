import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../run-program.ts';
import { type Dependency, ownUrl, type DependencyContext } from './dependency.ts';
import { redisResponds } from './readiness.ts';
import { writeRedisUsers } from './store-users.ts';

export function redisProgram(): string | undefined {
  return findProgram('redis-server');
}

export function prepareRedis(context: DependencyContext): Dependency {
  const home = join(context.settings.stateDir, 'redis');
  const configuration = join(home, 'redis.conf');
  mkdirSync(home, { recursive: true });
  const options = [
    `port ${context.ports.redis}`,
    'bind 127.0.0.1',
    `dir "${home}"`,
    `aclfile "${writeRedisUsers(context)}"`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction', // BullMQ must never lose a job to eviction
  ];
  writeFileSync(configuration, `${options.join('\n')}\n`, { mode: 0o600 });
  const url = ownUrl('redis', context);
  return {
    name: 'redis',
    url,
    processes: [
      {
        name: 'redis',
        kind: 'dependency',
        program: redisProgram() ?? 'redis-server',
        args: [configuration],
        cwd: home,
        env: { PATH: '/usr/bin:/bin' },
        ready: () => redisResponds(url),
      },
    ],
  };
}
