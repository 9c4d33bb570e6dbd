import { Inject, Injectable } from '@nestjs/common';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, LOGGER, SecretBox, type Clock, type Logger } from '@fulfilment/runtime';
import { CONFIG, type AuthServerSettings } from '../config.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import { Families } from '../tokens/families.js';
import { ResponseTimestampStore } from '../tokens/reuse/response-timestamps.js';
import { StoredRows } from '../tokens/stored-rows.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { ReadAccounts } from '../users/read-accounts.js';
import { GrantLoader } from './authorization/grants.js';
import { RejectionAudit } from './clients/rejection-audit.js';

/** The services that oidc-provider's configuration uses. */
@Injectable()
export class ProviderDependencies {
  constructor(
    @Inject(CONFIG) readonly config: AuthServerSettings,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
    readonly unitOfWork: UnitOfWork,
    readonly families: Families,
    readonly storedRows: StoredRows,
    readonly secrets: SecretBox,
    readonly outbox: Outbox,
    readonly accounts: ReadAccounts,
    readonly grants: GrantLoader,
    readonly factors: SecondFactors,
    readonly browsers: BrowserSessions,
    readonly responseTimestamps: ResponseTimestampStore,
    readonly rejectionAudit: RejectionAudit,
  ) {}
}
