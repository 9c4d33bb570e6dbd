import type { Database } from '@fulfilment/database';
import type { RedisConnection } from '@fulfilment/http-service';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { ReadAccounts } from './accounts/read-accounts.js';
import { AuditLog } from './audit/audit-log.js';
import { CONFIG, type Config } from './config.js';
import { Consents } from './connected-apps/consents.js';
import { SigningKeys } from './keys/signing-keys.js';
import { Families } from './oidc/families.js';
import { ExistingGrants } from './oidc/grants.js';
import { OidcServer } from './oidc/oidc-server.js';
import { SentAnswers } from './oidc/sent-answers.js';
import { StoredRows } from './oidc/stored-rows.js';
import { UnitOfWork } from './oidc/unit-of-work.js';
import { DenyList } from './revocation/deny-list.js';
import { AbortInteraction } from './sign-in/abort-interaction.js';
import { FormTokens } from './sign-in/form-tokens.js';
import { GiveConsent } from './sign-in/give-consent.js';
import { InteractionController } from './sign-in/interaction.controller.js';
import { ShowInteraction } from './sign-in/show-interaction.js';
import { SignInThrottle } from './sign-in/sign-in-throttle.js';
import { SignIn } from './sign-in/sign-in.js';

export interface Infrastructure {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly redis: RedisConnection;
}

@Module({})
export class AuthServerModule {
  static with(infrastructure: Infrastructure): DynamicModule {
    return {
      module: AuthServerModule,
      controllers: [InteractionController],
      providers: providersOver(infrastructure),
    };
  }
}

/** Everything below the pages, made in the order in which one stands on another. */
function providersOver({ config, logger, database, redis }: Infrastructure): Provider[] {
  const accounts = new ReadAccounts(database);
  const audit = new AuditLog(database, logger);
  const consents = new Consents(database);
  const denyList = new DenyList(database, redis, logger);
  const work = new UnitOfWork(database, denyList, audit);
  const families = new Families(work);
  const grants = new ExistingGrants(accounts, consents);
  const keyEncryptionKey = config.KEY_ENCRYPTION_KEY;
  const keys = new SigningKeys(database, keyEncryptionKey);
  const oidc = new OidcServer(keys, {
    config,
    logger,
    accounts,
    work,
    families,
    stored: new StoredRows(database),
    grants,
    keyEncryptionKey,
    answers: new SentAnswers(redis),
  });
  return [
    { provide: CONFIG, useValue: config },
    { provide: LOGGER, useValue: logger },
    { provide: ReadAccounts, useValue: accounts },
    { provide: AuditLog, useValue: audit },
    { provide: Consents, useValue: consents },
    { provide: DenyList, useValue: denyList },
    { provide: OidcServer, useValue: oidc },
    { provide: SigningKeys, useValue: keys },
    { provide: FormTokens, useValue: new FormTokens(config.COOKIE_KEYS, config.AUTH_URL) },
    { provide: SignInThrottle, useValue: new SignInThrottle(redis, config.SIGN_IN_FAILURES) },
    ShowInteraction,
    SignIn,
    GiveConsent,
    AbortInteraction,
  ];
}
