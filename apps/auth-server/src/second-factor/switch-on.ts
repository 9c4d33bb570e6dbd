import { type AuditEntry, insertAudit, type Origin } from '../audit/audit-log.js';
import { endSessionsOfUser } from '../sessions/end-sessions.js';
import { endLastingFirstPartyFamilies } from '../tokens/families.js';
import type { UnitOfWork } from '../tokens/unit-of-work.js';
import type { SecondFactors } from './second-factors.js';

/** Who switches a second factor on, and where. */
export interface SwitchOn {
  readonly userId: string;
  readonly code: string;
  /** The session of the browser that does it; undefined while it has none. */
  readonly sessionUid: string | undefined;
  readonly clientId?: string;
  readonly origin: Origin;
}

/**
 * Takes a second factor into use and ends every other browser's session and what our own apps keep, in one commit. Returns the recovery
 * codes; undefined when the code is wrong.
 */
export async function switchOnSecondFactor(
  work: UnitOfWork,
  factors: SecondFactors,
  { userId, code, sessionUid, clientId, origin }: SwitchOn,
): Promise<string[] | undefined> {
  let codes: string[] | undefined;
  const entry: AuditEntry = { event: 'second_factor_added', userId, clientId };
  await work.revoking(async (tx) => {
    codes = await factors.confirmSetup(tx, userId, code);
    if (codes === undefined) return [];
    await insertAudit(tx, entry, origin);
    return [
      ...(await endSessionsOfUser(tx, userId, sessionUid)),
      ...(await endLastingFirstPartyFamilies(tx, userId)),
    ];
  });
  return codes;
}
