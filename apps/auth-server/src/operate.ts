import { operateService, operatorCommand } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { settings } from './config.js';
import { resealSecrets } from './keys/reseal-secrets.js';
import { SigningKeys } from './keys/signing-keys.js';
import { migrations } from './migrations/index.js';
import { accountCommands } from './operator/account-commands.js';
import { auditCommands } from './operator/audit-commands.js';
import { clientCommands } from './operator/client-commands.js';
import { creatorCommands } from './operator/creator-commands.js';
import { operatorContext, type OperatorContext } from './operator/operator-context.js';

const keyCommands = {
  'keys rotate': operatorCommand({
    arguments: z.object({}),
    run: async ({ database, secrets, clock }: OperatorContext) => ({
      active: await new SigningKeys(database, secrets, clock).rotate(),
    }),
  }),
  'keys reseal': operatorCommand({
    arguments: z.object({}),
    run: ({ database, secrets }: OperatorContext) => resealSecrets(database, secrets),
  }),
};

await operateService({
  name: 'auth-server',
  migrations,
  settings: settings.pick({
    DATABASE_URL: true,
    REDIS_URL: true,
    RABBITMQ_URL: true,
    RABBITMQ_NAMESPACE: true,
    KEY_ENCRYPTION_KEY: true,
  }),
  context: operatorContext,
  commands: { ...accountCommands, ...creatorCommands, ...clientCommands, ...keyCommands, ...auditCommands },
});
