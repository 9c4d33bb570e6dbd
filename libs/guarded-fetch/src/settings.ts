import {
  booleanSetting,
  hasLoopbackHost,
  type RelaxedSetting,
  type ServiceSettings,
} from '@fulfilment/runtime';
import { z } from 'zod';
import { GuardedClient } from './guarded-client.js';

const cidr = z.union([z.cidrv4(), z.cidrv6()]);

/** Settings of a service that connects to untrusted URLs. */
export const guardedClientSettings = {
  ALLOW_LOOPBACK_TARGETS: booleanSetting().describe(
    'Development only: allow callers to give URLs of this machine, also with http. Accepted only if the host of BASE_URL is loopback',
  ),
  BLOCKED_NETWORKS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((network) => network.trim())
        .filter((network) => network !== ''),
    )
    .refine(
      (networks) => z.array(cidr).safeParse(networks).success,
      'must be networks in CIDR form, separated by commas',
    )
    .describe(
      'Additional networks to which connections are blocked, such as those of the operator: in CIDR form, separated by commas',
    ),
};

type Settings = Pick<ServiceSettings, 'BASE_URL' | 'AUTH_URL'> & {
  readonly ALLOW_LOOPBACK_TARGETS: boolean;
  readonly BLOCKED_NETWORKS: readonly string[];
};

/** For `superRefine` of the service's settings: only a suite on this machine may allow loopback targets. */
export function rejectLoopbackTargetsOfPublicSuite(
  settings: Pick<Settings, 'BASE_URL' | 'ALLOW_LOOPBACK_TARGETS'>,
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (!settings.ALLOW_LOOPBACK_TARGETS || hasLoopbackHost(settings.BASE_URL)) return;
  context.addIssue({
    code: 'custom',
    path: ['ALLOW_LOOPBACK_TARGETS'],
    message: 'may be true only if the host of BASE_URL is loopback (localhost, 127.0.0.0/8, ::1)',
  });
}

/** Reports ALLOW_LOOPBACK_TARGETS while it is true. */
export function relaxedTargetSettings(settings: Pick<Settings, 'ALLOW_LOOPBACK_TARGETS'>): RelaxedSetting[] {
  if (!settings.ALLOW_LOOPBACK_TARGETS) return [];
  const consequence =
    'ALLOW_LOOPBACK_TARGETS is true: callers can make this service connect to ports of this machine.';
  return [{ setting: 'ALLOW_LOOPBACK_TARGETS', consequence }];
}

/** Creates a client with these settings. The caller closes it. */
export function openGuardedClient(settings: Settings): GuardedClient {
  return new GuardedClient({
    allowLoopback: settings.ALLOW_LOOPBACK_TARGETS,
    blockedNetworks: settings.BLOCKED_NETWORKS,
    ownUrls: [settings.BASE_URL, settings.AUTH_URL],
  });
}
