import { runServiceCli } from '@fulfilment/service-host/operator';
import { authServerSettings, forceGenericPlan } from './config.js';
import { migrations } from './migrations/index.js';
import { accountCommands } from './operator/account-commands.js';
import { auditCommands } from './operator/audit-commands.js';
import { clientCommands } from './operator/client-commands.js';
import { creatorCommands } from './operator/creator-commands.js';
import { keyCommands } from './operator/key-commands.js';
import { operatorContext } from './operator/operator-context.js';

await runServiceCli({
  name: 'auth-server',
  migrations,
  doctor: {
    allSettings: () => Promise.resolve(authServerSettings),
    forceGenericPlan,
  },
  settings: authServerSettings
    .pick({
      DATABASE_URL: true,
      REDIS_URL: true,
      REDIS_SENTINELS: true,
      REDIS_SENTINEL_MASTER: true,
      REDIS_SENTINEL_PASSWORD: true,
      RABBITMQ_URL: true,
      RABBITMQ_NAMESPACE: true,
      KEY_ENCRYPTION_KEY: true,
    })
    // Only for `hasLoopbackUrl` (operator-context.ts).
    .extend({ AUTH_URL: authServerSettings.shape.AUTH_URL.optional() }),
  context: operatorContext,
  commands: { ...accountCommands, ...creatorCommands, ...clientCommands, ...keyCommands, ...auditCommands },
});
