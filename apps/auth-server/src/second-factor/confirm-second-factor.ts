import { statement } from '@fulfilment/database';
import { type AuditEntry, insertAudit, type Origin } from '../audit/audit-log.js';
import { endOtherAccess } from '../sessions/end-sessions.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { type CheckResult, nothingToVerify } from './check-result.js';
import type { SecondFactors } from './second-factors.js';

const lockUser = statement('second-factors.lock-user', 'SELECT FROM users WHERE id = $1 FOR KEY SHARE');

interface SecondFactorConfirmation {
  readonly userId: string;
  readonly code: string;
  /** Session of the browser, which stays signed in; undefined when it has none. */
  readonly sessionUid: string | undefined;
  readonly clientId?: string;
  readonly origin: Origin;
}

/**
 * Confirms a second factor, and in the same commit signs out all other browsers and ends the token families
 * with `offline_access` of first-party apps, since these families began without the factor. Returns the
 * recovery codes; undefined for a wrong code; `nothingToVerify` if no set-up is in progress.
 */
export async function confirmSecondFactor(
  unitOfWork: UnitOfWork,
  factors: SecondFactors,
  { userId, code, sessionUid, clientId, origin }: SecondFactorConfirmation,
): Promise<CheckResult<string[]>> {
  let codes: CheckResult<string[]>;
  const entry: AuditEntry = { event: 'second_factor_added', userId, clientId };
  await unitOfWork.runRevocation(async (tx) => {
    await tx.run(lockUser, [userId]); // before the second factor, as operator commands do
    codes = await factors.confirmSetup(tx, userId, code);
    if (codes === undefined || codes === nothingToVerify) return [];
    await insertAudit(tx, entry, origin);
    return endOtherAccess(tx, userId, { sessionUid });
  });
  return codes;
}
