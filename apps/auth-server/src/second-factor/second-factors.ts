import { CONFIG, type AuthServerSettings } from '../config.js';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Sql, statement, type Transaction } from '@fulfilment/database';
import { CLOCK, type Clock, SecretBox } from '@fulfilment/runtime';
import { randomBytes } from 'node:crypto';
import { insertAudit, type Origin } from '../audit/audit-log.js';
import {
  formatRecoveryCode,
  recoveryCodeCount,
  recoveryCodeHash,
  normalizeRecoveryCode,
} from './recovery-codes.rules.js';
import { type CheckResult, nothingToVerify } from './check-result.js';
import { findTimeStep, totpSecretBytes } from './totp.rules.js';

/** State of an account's second factor. */
interface SecondFactorState {
  readonly confirmed: boolean;
  /** Whether a set-up waits for its first code. */
  readonly setupOpen: boolean;
  readonly recoveryCodesLeft: number;
  /** True after too many consecutive wrong codes, until the person uses a recovery code. */
  readonly totpLocked: boolean;
}

/** NIST SP 800-63B-4 §3.2.2: at most 100 consecutive failures for one authenticator. */
const maxWrongCodes = 100;
const totpLockedText =
  'After too many incorrect codes, codes from your authenticator app are no longer accepted. Enter a recovery code, then change your password, because someone else may know it. If you have no recovery code, contact support.';

export const setupExpiredText =
  'Your authenticator app is not set up: a set-up ends after 15 minutes, and when you change your password. Delete its entry in the app, then set it up again.';

export type SecondFactorMethod = 'code' | 'recovery_code';

interface StoredFactor extends Pick<SecondFactorState, 'confirmed' | 'setupOpen'> {
  readonly secret: Buffer;
}

const factorStateSql = `confirmed_at IS NOT NULL AS confirmed,
  confirmed_at IS NULL AND created_at > now() - interval '15 minutes' AS "setupOpen"`;

const findState = statement(
  'second-factors.state',
  `SELECT ${factorStateSql}, wrong_codes >= ${maxWrongCodes} AS "totpLocked",
     (SELECT count(*)::int FROM recovery_codes AS code WHERE code.user_id = $1 AND used_at IS NULL) AS "recoveryCodesLeft"
   FROM second_factors WHERE user_id = $1`,
);
const withoutFactor: SecondFactorState = {
  confirmed: false,
  setupOpen: false,
  recoveryCodesLeft: 0,
  totpLocked: false,
};
const findNeed = statement(
  'second-factors.need',
  `SELECT (users.global_admin AND $2) OR factor.confirmed_at IS NOT NULL AS needed
   FROM users LEFT JOIN second_factors AS factor ON factor.user_id = users.id WHERE users.id = $1`,
);
// A secret is shown once: a page that is opened later shows a new one.
const storeUnconfirmed = statement(
  'second-factors.begin',
  `INSERT INTO second_factors (user_id, secret_encrypted) VALUES ($1, $2)
   ON CONFLICT (user_id) DO UPDATE SET secret_encrypted = EXCLUDED.secret_encrypted, created_at = now()
   WHERE second_factors.confirmed_at IS NULL`,
);
const find = statement(
  'second-factors.find',
  `SELECT secret_encrypted, ${factorStateSql} FROM second_factors WHERE user_id = $1`,
);
// The lock keeps another page from replacing the secret before this transaction ends.
const findAndLock = statement('second-factors.find-and-lock', `${find.text} FOR UPDATE`);
// RFC 6238 §5.2: a code is accepted once. Of two concurrent requests with the same code, the second changes
// no row.
const useStep = statement(
  'second-factors.use-step',
  `UPDATE second_factors SET last_step = $2, wrong_codes = 0
   WHERE user_id = $1 AND last_step < $2 AND confirmed_at IS NOT NULL AND wrong_codes < ${maxWrongCodes}`,
);
// In the row of the factor, so that all replicas share the count.
const countWrongCode = statement(
  'second-factors.count-wrong',
  `UPDATE second_factors SET wrong_codes = wrong_codes + 1 WHERE user_id = $1 AND confirmed_at IS NOT NULL
   RETURNING wrong_codes`,
);
const resetWrongCodes = statement(
  'second-factors.reset-wrong',
  'UPDATE second_factors SET wrong_codes = 0 WHERE user_id = $1 AND wrong_codes > 0',
);
const confirmFactor = statement(
  'second-factors.confirm',
  'UPDATE second_factors SET confirmed_at = now(), last_step = $2 WHERE user_id = $1',
);
const useRecoveryCode = statement(
  'second-factors.use-recovery-code',
  `UPDATE recovery_codes SET used_at = now() WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL`,
);
const insertRecoveryCodes = statement(
  'second-factors.insert-recovery-codes',
  'INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])',
);
const deleteRecoveryCodes = statement(
  'second-factors.delete-recovery-codes',
  'DELETE FROM recovery_codes WHERE user_id = $1',
);
/** Deletes a second factor that was not confirmed: anyone who saw its page knows the secret. */
export const deleteUnconfirmedSecondFactor = statement(
  'second-factors.remove-unconfirmed',
  'DELETE FROM second_factors WHERE user_id = $1 AND confirmed_at IS NULL',
);
/** Deletes the second factor of a person and, by the foreign key (ON DELETE CASCADE), the recovery codes. */
export const deleteSecondFactor = statement(
  'second-factors.remove',
  'DELETE FROM second_factors WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AS "wasConfirmed"',
);

/** Time-based one-time codes (RFC 6238) of an authenticator app, and ten recovery codes for its loss. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
    @Inject(CONFIG) private readonly config: Pick<AuthServerSettings, 'SECOND_FACTOR_FOR_GLOBAL_ADMINS'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Whether the person needs the second factor to sign in. */
  async isNeeded(userId: string): Promise<boolean> {
    const row = await this.database.row<{ needed: boolean }>(findNeed, [
      userId,
      this.config.SECOND_FACTOR_FOR_GLOBAL_ADMINS,
    ]);
    return row?.needed === true;
  }

  /** Whether the person's role requires a second factor. */
  isRequiredByRole(person: { readonly global_admin: boolean }): boolean {
    return person.global_admin && this.config.SECOND_FACTOR_FOR_GLOBAL_ADMINS;
  }

  /** Returns the text for a person whose code was not accepted. */
  async wrongCodeText(userId: string): Promise<string> {
    return (await this.stateOf(userId)).totpLocked
      ? totpLockedText
      : 'The code is incorrect or was already used. Wait for the next code and try again.';
  }

  async stateOf(userId: string): Promise<SecondFactorState> {
    return (await this.database.row<SecondFactorState>(findState, [userId])) ?? withoutFactor;
  }

  /**
   * Returns a new secret for the app; undefined when a second factor is already confirmed, whose secret is
   * never shown.
   */
  async beginSetup(userId: string): Promise<Buffer | undefined> {
    const secret = randomBytes(totpSecretBytes).toString('base64');
    await this.database.run(storeUnconfirmed, [userId, this.secrets.seal(secret, secondFactorOwner(userId))]);
    // Another page may have replaced the secret since, or confirmed it.
    const stored = await this.readStored(this.database, userId);
    return stored === undefined || stored.confirmed ? undefined : stored.secret;
  }

  /**
   * Confirms the second factor with a correct code of the app. Returns the recovery codes; undefined for a
   * wrong code; `nothingToVerify` if no set-up is open.
   * @param tx transaction in which the caller signs out the other browsers
   */
  async confirmSetup(tx: Transaction, userId: string, code: string): Promise<CheckResult<string[]>> {
    const stored = await this.readStored(tx, userId, findAndLock);
    if (stored?.setupOpen !== true) return nothingToVerify;
    const step = findTimeStep(stored.secret, code, this.clock().getTime());
    if (step === undefined) return undefined;
    await tx.run(confirmFactor, [userId, step]);
    return this.replaceRecoveryCodes(tx, userId, stored.secret);
  }

  /**
   * Verifies a code of the app, or a recovery code, and counts a wrong one. Each code is accepted once.
   * Returns the method; undefined for a wrong code.
   */
  async verifyCode(userId: string, typed: string, origin: Origin): Promise<CheckResult<SecondFactorMethod>> {
    const stored = await this.readStored(this.database, userId);
    if (stored?.confirmed !== true) return nothingToVerify;
    const method = await this.useCode(userId, stored.secret, typed);
    if (method === undefined) await this.countWrongCode(userId, origin);
    return method;
  }

  private async countWrongCode(userId: string, origin: Origin): Promise<void> {
    await this.database.transaction(async (tx) => {
      const count = await tx.row<{ wrong_codes: number }>(countWrongCode, [userId]);
      if (count?.wrong_codes === maxWrongCodes)
        await insertAudit(tx, { event: 'second_factor_locked', userId }, origin);
    });
  }

  /** Marks a correct code as used. Returns undefined for a wrong or used one. */
  private async useCode(
    userId: string,
    secret: Buffer,
    typed: string,
  ): Promise<SecondFactorMethod | undefined> {
    const step = findTimeStep(secret, typed, this.clock().getTime());
    if (step !== undefined)
      return (await this.database.run(useStep, [userId, step])) === 1 ? 'code' : undefined;
    const code = normalizeRecoveryCode(typed);
    if (code === undefined) return undefined;
    const hash = recoveryCodeHash(secret, userId, code);
    if ((await this.database.run(useRecoveryCode, [userId, hash])) !== 1) return undefined;
    await this.database.run(resetWrongCodes, [userId]);
    return 'recovery_code';
  }

  /** Replaces all recovery codes. Returns undefined without a confirmed second factor. */
  async renewRecoveryCodes(tx: Transaction, userId: string): Promise<string[] | undefined> {
    const stored = await this.readStored(tx, userId, findAndLock);
    return stored?.confirmed === true ? this.replaceRecoveryCodes(tx, userId, stored.secret) : undefined;
  }

  private async replaceRecoveryCodes(tx: Transaction, userId: string, secret: Buffer): Promise<string[]> {
    const codes = Array.from({ length: recoveryCodeCount }, () => formatRecoveryCode(randomBytes(16)));
    const hashes = codes.map((code) => recoveryCodeHash(secret, userId, code));
    await tx.run(deleteRecoveryCodes, [userId]);
    await tx.run(insertRecoveryCodes, [userId, hashes]);
    return codes;
  }

  private async readStored(sql: Sql, userId: string, lookup = find): Promise<StoredFactor | undefined> {
    const row = await sql.row<StoredFactor & { secret_encrypted: Buffer }>(lookup, [userId]);
    if (row === undefined) return undefined;
    const secret = this.secrets.open(row.secret_encrypted, secondFactorOwner(userId)).toString();
    return { ...row, secret: Buffer.from(secret, 'base64') };
  }
}

/** The `owner` that `SecretBox` binds the sealed secret of an authenticator app to. */
export function secondFactorOwner(userId: string): string {
  return `second-factor:${userId}`;
}
