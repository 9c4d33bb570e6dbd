/** What is wrong with a deployment, and how an operator corrects it. Each is a whole sentence. */
export interface Finding {
  readonly problem: string;
  readonly fix: string;
}

const maxClockDifferenceMs = 1_000;

/** @param names the problem is reported only if there are any */
export function findingAbout(
  names: readonly string[],
  problem: (list: string) => string,
  fix: string,
): Finding[] {
  return names.length === 0 ? [] : [{ problem: problem(names.join(', ')), fix }];
}

/** @param nowMs the time of this machine between the request and the response */
export function clockFindings(store: string, theirsMs: number, nowMs: number): Finding[] {
  const differenceMs = Math.round(Math.abs(theirsMs - nowMs));
  return differenceMs <= maxClockDifferenceMs
    ? []
    : [
        {
          problem: `The clock of ${store} differs from the clock of this machine by ${differenceMs} ms.`,
          fix: 'Synchronise both clocks (NTP): tokens, leases and deadlines depend on them.',
        },
      ];
}

/** @param version of the server, such as `3.12.14` */
export function versionFindings(store: string, version: string, oldest: readonly number[]): Finding[] {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  const differing = oldest.findIndex((part, index) => (parts[index] ?? 0) !== part);
  const isOld = differing !== -1 && (parts[differing] ?? 0) < (oldest[differing] ?? 0);
  return isOld
    ? [{ problem: `${store} has version ${version}.`, fix: `Upgrade it to ${oldest.join('.')} or later.` }]
    : [];
}

/** @param info response of Redis to INFO */
export function redisFindings(info: string): Finding[] {
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const policy = value('maxmemory_policy');
  return [
    ...versionFindings('Redis', value('redis_version'), [7]),
    ...(policy === 'noeviction'
      ? []
      : [
          {
            problem: `Redis may delete keys: maxmemory-policy is ${policy}.`,
            fix: 'Set maxmemory-policy to noeviction; otherwise revoked tokens and jobs are lost.',
          },
        ]),
    ...(value('role') === 'master' && value('cluster_enabled') !== '1'
      ? []
      : [
          {
            problem: 'REDIS_URL does not lead to a primary.',
            fix: 'Use the address of the primary; Redis Cluster is not supported.',
          },
        ]),
  ];
}
