import { Database } from '@fulfilment/database';
import type { RedisConnection } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger, SecretBox } from '@fulfilment/runtime';
import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { AccountController } from './account-pages/account.controller.js';
import { ChangeName } from './account-pages/change-name.js';
import { ChangePassword } from './account-pages/change-password.js';
import { ChangeSecondFactor } from './account-pages/change-second-factor.js';
import { AccountLoginCallback } from './account-pages/account-login-callback.js';
import { ConfirmPassword } from './account-pages/confirm-password.js';
import { DisconnectApp } from './account-pages/disconnect-app.js';
import { RecordReauthentication } from './account-pages/record-reauthentication.js';
import { OpenAccount } from './account-pages/open-account.js';
import { SetUpSecondFactor } from './account-pages/set-up-second-factor.js';
import { ShowAccount } from './account-pages/show-account.js';
import { ShowBrowsers } from './account-pages/show-browsers.js';
import { ShowConnectedApps } from './account-pages/show-connected-apps.js';
import { ShowSecurity } from './account-pages/show-security.js';
import { SignOutBrowser } from './account-pages/sign-out-browser.js';
import { ReadAccounts } from './users/read-accounts.js';
import { AuditLog } from './audit/audit-log.js';
import { CONFIG, type Config } from './config.js';
import { Consents } from './connected-apps/consents.js';
import { ReadConnectedApps } from './connected-apps/read-connected-apps.js';
import { SigningKeys } from './keys/signing-keys.js';
import { CountRejections } from './oidc/count-rejections.js';
import { ExistingGrants } from './oidc/grants.js';
import { OidcServer } from './oidc/oidc-server.js';
import { FormTokens } from './pages/form-tokens.js';
import { DenyList } from './revocation/deny-list.js';
import { SecondFactors } from './second-factor/second-factors.js';
import { BrowserSessions } from './sessions/browser-sessions.js';
import { AbortInteraction } from './sign-in/abort-interaction.js';
import { AskSecondFactor } from './sign-in/ask-second-factor.js';
import { DeviceCookies } from './sign-in/device-cookies.js';
import { FinishSignIn } from './sign-in/finish-sign-in.js';
import { GiveConsent } from './sign-in/give-consent.js';
import { GuessCounts } from './sign-in/guess-counts.js';
import { InteractionController } from './sign-in/interaction.controller.js';
import { ProveSecondFactor } from './sign-in/prove-second-factor.js';
import { ShowInteraction } from './sign-in/show-interaction.js';
import { SignInThrottle } from './sign-in/sign-in-throttle.js';
import { SignIn } from './sign-in/sign-in.js';
import { Families } from './tokens/families.js';
import { ResponseTimes } from './tokens/response-times.js';
import { StoredRows } from './tokens/stored-rows.js';
import { UnitOfWork } from './tokens/unit-of-work.js';

export interface Infrastructure {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly background: Database;
  readonly redis: RedisConnection;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

@Module({})
export class AuthServerModule {
  static with(infrastructure: Infrastructure): DynamicModule {
    return {
      module: AuthServerModule,
      controllers: [InteractionController, AccountController],
      providers: providersOver(infrastructure),
    };
  }
}

/** The providers that the page use cases depend on, created in the order of their dependencies. */
function providersOver(infrastructure: Infrastructure): Provider[] {
  const { config, logger, database, background, redis, outbox, clock } = infrastructure;
  const accounts = new ReadAccounts(database);
  const audit = new AuditLog(database, logger);
  const consents = new Consents(database);
  const denyList = new DenyList(background, redis, logger);
  const work = new UnitOfWork(database, denyList, audit);
  const families = new Families(work, outbox);
  const grants = new ExistingGrants(accounts, consents);
  const secrets = new SecretBox(config.KEY_ENCRYPTION_KEY);
  const keys = new SigningKeys(background, secrets, clock);
  const browsers = new BrowserSessions(database, work);
  const guesses = new GuessCounts(database);
  const factors = new SecondFactors(database, {
    secrets,
    requiredForGlobalAdmins: config.SECOND_FACTOR_FOR_GLOBAL_ADMINS,
    clock,
  });
  const oidc = new OidcServer(keys, {
    config,
    logger,
    accounts,
    work,
    families,
    stored: new StoredRows(database),
    grants,
    factors,
    browsers,
    secrets,
    outbox,
    responseTimes: new ResponseTimes(redis),
    rejections: new CountRejections(audit, config.SIGN_IN_FAILURES.windowSeconds),
    clock,
  });
  return [
    { provide: CONFIG, useValue: config },
    { provide: LOGGER, useValue: logger },
    { provide: CLOCK, useValue: clock },
    { provide: Database, useValue: database },
    { provide: ReadAccounts, useValue: accounts },
    { provide: AuditLog, useValue: audit },
    { provide: Consents, useValue: consents },
    { provide: DenyList, useValue: denyList },
    { provide: OidcServer, useValue: oidc },
    { provide: SigningKeys, useValue: keys },
    { provide: FormTokens, useValue: new FormTokens(config.COOKIE_KEYS, config.AUTH_URL) },
    { provide: GuessCounts, useValue: guesses },
    { provide: SignInThrottle, useValue: new SignInThrottle(guesses, config.SIGN_IN_FAILURES) },
    { provide: DeviceCookies, useValue: new DeviceCookies(config) },
    { provide: UnitOfWork, useValue: work },
    { provide: Outbox, useValue: outbox },
    { provide: Families, useValue: families },
    { provide: BrowserSessions, useValue: browsers },
    { provide: SecondFactors, useValue: factors },
    { provide: ReadConnectedApps, useValue: new ReadConnectedApps(database) },
    AskSecondFactor,
    FinishSignIn,
    ShowInteraction,
    SignIn,
    ProveSecondFactor,
    GiveConsent,
    AbortInteraction,
    OpenAccount,
    ConfirmPassword,
    AccountLoginCallback,
    ShowAccount,
    ShowConnectedApps,
    DisconnectApp,
    ShowBrowsers,
    SignOutBrowser,
    ShowSecurity,
    RecordReauthentication,
    ChangeName,
    ChangePassword,
    SetUpSecondFactor,
    ChangeSecondFactor,
  ];
}
