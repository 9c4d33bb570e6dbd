import { flag, type Logger, type ServiceSettings } from '@fulfilment/runtime';
import { z } from 'zod';
import { GuardedClient } from './guarded-client.js';

/** What a service that calls addresses of strangers is told beside its own settings. */
export const guardedClientSettings = {
  ALLOW_LOOPBACK_TARGETS: flag().describe(
    'Development only: URLs that callers give may name this machine, over http too',
  ),
  BLOCKED_NETWORKS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((network) => network !== ''))
    .describe(
      "Further networks that are never connected to, in CIDR form, separated by commas: the operator's own",
    ),
};

type Settings = Pick<ServiceSettings, 'BASE_URL' | 'AUTH_URL'> & {
  readonly ALLOW_LOOPBACK_TARGETS: boolean;
  readonly BLOCKED_NETWORKS: readonly string[];
};

/** The client as a service's settings want it. Whoever opens it closes it. */
export function openGuardedClient(settings: Settings, logger: Logger): GuardedClient {
  if (settings.ALLOW_LOOPBACK_TARGETS) {
    logger.warn(
      'ALLOW_LOOPBACK_TARGETS is on: callers may make the service talk to this machine. Never set it in production.',
    );
  }
  return new GuardedClient({
    allowLoopback: settings.ALLOW_LOOPBACK_TARGETS,
    blockedNetworks: settings.BLOCKED_NETWORKS,
    ownUrls: [settings.BASE_URL, settings.AUTH_URL],
  });
}
