import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit/audit-log.js';
import { Consents } from './connected-apps/consents.js';
import { ReadConnectedApps } from './connected-apps/read-connected-apps.js';
import { SecondFactors } from './second-factor/second-factors.js';
import { BrowserSessions } from './sessions/browser-sessions.js';
import { ReadAccounts } from './users/read-accounts.js';

const providers = [AuditLog, BrowserSessions, Consents, ReadAccounts, ReadConnectedApps, SecondFactors];

/** Users and their data. Global, since the OIDC, sign-in and account page modules use them. */
@Global()
@Module({ providers, exports: providers })
export class AccountDataModule {}
