import { runServiceCli, defineCommand, type CommandContext } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { forceGenericPlan, type WebhookWorkerSettings, webhookWorkerSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { resealSecrets } from './operator/reseal-secrets.js';
import { SecretBox, serviceSettings } from '@fulfilment/runtime';
import { supportCommands } from './operator/support-commands.js';

type Context = CommandContext<Pick<WebhookWorkerSettings, 'SECRET_ENCRYPTION_KEY'>>;

await runServiceCli({
  name: 'webhook-worker',
  migrations,
  doctor: {
    allSettings: () => Promise.resolve(webhookWorkerSettings),
    forceGenericPlan,
  },
  settings: serviceSettings
    .pick({ DATABASE_URL: true })
    .extend({ SECRET_ENCRYPTION_KEY: webhookWorkerSettings.shape.SECRET_ENCRYPTION_KEY }),
  context: (context): Context => context,
  commands: {
    ...supportCommands,
    'webhooks reseal': defineCommand({
      summary:
        're-encrypts the secrets and signing keys of webhooks with the newest key, so that old keys can be removed',
      arguments: z.object({}),
      run: ({ database, settings }: Context) =>
        resealSecrets(database, new SecretBox(settings.SECRET_ENCRYPTION_KEY)),
    }),
  },
});
