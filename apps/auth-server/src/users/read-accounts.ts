import { Inject, Injectable } from '@nestjs/common';
import { Database, type Sql, statement } from '@fulfilment/database';
import { CONFIG, type AuthServerSettings } from '../config.js';
import { creatorNameSql } from '../creators/creator-name.sql.js';

/** A user's personal data, with the organisation and role that apply to one authorization. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string | null;
  readonly global_admin: boolean;
  /** The organisation of the authorization's creator, else the one joined first; null without any. */
  readonly organisation_id: string | null;
  readonly role: string | null;
}

export interface Credentials {
  readonly id: string;
  readonly password_hash: string;
}

/** Credentials that have just matched a typed password. */
interface VerifiedCredentials extends Credentials {
  /** In seconds since 1970. */
  readonly passwordVerifiedAt: number;
}

/** Result of a lookup by e-mail address. */
interface EmailLookup {
  /** Equal for all spellings of the same account. */
  readonly canonical: string;
  /** Undefined when the account does not exist or is disabled. */
  readonly user: Credentials | undefined;
}

interface EmailRow {
  readonly canonical: string;
  readonly id: string | null;
  readonly password_hash: string | null;
}

export interface VisibleCreator {
  readonly id: string;
  readonly name: string;
  readonly organisation_name: string;
}

/**
 * SQL that selects a Person.
 * @param userId, creatorId SQL of the two UUIDs; `creatorId` is NULL without a creator
 */
export const selectPersonSql = (userId: string, creatorId: string): string =>
  `SELECT users.id, users.email, users.email_verified, users.name, users.global_admin,
          membership.organisation_id, membership.role
   FROM users
   LEFT JOIN creators AS creator ON creator.id = ${creatorId}
   LEFT JOIN LATERAL (
     SELECT organisation_id, role FROM memberships
     WHERE user_id = users.id AND (creator.id IS NULL OR organisation_id = creator.organisation_id)
     ORDER BY created_at, organisation_id LIMIT 1) AS membership ON true
   WHERE users.id = ${userId} AND users.disabled_at IS NULL`;
const findPerson = statement('accounts.person', selectPersonSql('$1::uuid', '$2::uuid'));
// PostgreSQL alone decides which spellings are equal, since the index users_email uses the same lower(). The
// subquery is one row without columns, so that an unknown user gets a canonical spelling, too.
const findByEmail = statement(
  'accounts.by-email',
  `SELECT lower($1::text) AS canonical, users.id, users.password_hash FROM (SELECT) AS typed
   LEFT JOIN users ON lower(users.email) = lower($1::text) AND users.disabled_at IS NULL`,
);
const findCredentials = statement(
  'accounts.credentials',
  'SELECT id, password_hash FROM users WHERE id = $1 AND disabled_at IS NULL',
);
/**
 * SQL of the time of a sign-in with the current password of a row of `users`, in seconds since 1970, as
 * sessions store it. It is not before the last change of the password, which may be in the same second, so it
 * may be up to a second in the future. Both are times of PostgreSQL, since the clocks of replicas differ.
 */
export const signInTimeSql =
  'greatest(floor(extract(epoch FROM now())), ceil(extract(epoch FROM users.password_changed_at)))::bigint';
// Waits for a change of the password, and then finds the new one.
const confirmSignIn = statement(
  'accounts.confirm-sign-in',
  `SELECT id, password_hash, ${signInTimeSql} AS "passwordVerifiedAt" FROM users
   WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL FOR SHARE`,
);
const findExpiredSignIn = statement(
  'accounts.expired-sign-in',
  `SELECT 1 FROM users WHERE id = $1 AND (
     disabled_at IS NOT NULL
     OR $2::bigint < extract(epoch FROM password_changed_at)
     OR $2::bigint < extract(epoch FROM now()) - CASE WHEN global_admin THEN 3600 * $4::bigint ELSE 86400 * $3::bigint END)`,
);
/** Keeps the page readable. A third-party app cannot be connected to further creators. */
const maxListedCreators = 200;
// LATERAL and LIMIT prevent that all creators of a large organisation are read.
export const listCreators = statement(
  'accounts.creators',
  `SELECT creators.id, ${creatorNameSql} AS name, organisations.name AS organisation_name
   FROM memberships
   JOIN organisations ON organisations.id = memberships.organisation_id
   CROSS JOIN LATERAL (
     SELECT * FROM creators WHERE organisation_id = memberships.organisation_id
     ORDER BY registered_at, id LIMIT ${maxListedCreators}) AS creators
   WHERE memberships.user_id = $1
   ORDER BY memberships.created_at, creators.registered_at, creators.id LIMIT ${maxListedCreators}`,
);
const findOrganisation = statement('accounts.organisation', 'SELECT name FROM organisations WHERE id = $1');
const findVisibleCreator = statement(
  'accounts.sees-creator',
  `SELECT 1 FROM creators JOIN users ON users.id = $1
   WHERE creators.id = $2 AND (users.global_admin OR EXISTS (
     SELECT 1 FROM memberships WHERE user_id = users.id AND organisation_id = creators.organisation_id))`,
);

/** Reads users, their credentials and the creators they may act for. */
@Injectable()
export class ReadAccounts {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG)
    private readonly config: Pick<AuthServerSettings, 'SESSION_MAX_DAYS' | 'SESSION_MAX_HOURS_GLOBAL_ADMINS'>,
  ) {}

  /**
   * Returns a person; undefined for an unknown or disabled one.
   * @param sql an open transaction of the request, so that it uses no second connection
   */
  person(
    userId: string,
    creatorId?: string,
    sql: Sql | undefined = this.database,
  ): Promise<Person | undefined> {
    return sql.row<Person>(findPerson, [userId, creatorId]);
  }

  /** @param email case-insensitive */
  async findByEmail(email: string): Promise<EmailLookup> {
    const row = await this.database.row<EmailRow>(findByEmail, [email]);
    const { canonical = '', id = null, password_hash = null } = row ?? {};
    return { canonical, user: id === null || password_hash === null ? undefined : { id, password_hash } };
  }

  credentials(userId: string): Promise<Credentials | undefined> {
    return this.database.row<Credentials>(findCredentials, [userId]);
  }

  /**
   * Returns credentials whose hash a typed password has matched; undefined if the password was changed, or
   * the person disabled, after they were read.
   */
  confirmSignIn({ id, password_hash }: Credentials): Promise<VerifiedCredentials | undefined> {
    return this.database.row<VerifiedCredentials>(confirmSignIn, [id, password_hash]);
  }

  /**
   * Whether a sign-in is too old, or older than the password, or its person is disabled.
   * @param signedInAt in seconds since 1970
   */
  async isSignInExpired(userId: string, signedInAt: number): Promise<boolean> {
    const { SESSION_MAX_DAYS, SESSION_MAX_HOURS_GLOBAL_ADMINS } = this.config;
    const values = [userId, signedInAt, SESSION_MAX_DAYS, SESSION_MAX_HOURS_GLOBAL_ADMINS];
    return (await this.database.row(findExpiredSignIn, values)) !== undefined;
  }

  /** Returns the creators of the user's organisations, by the times of joining and of registration. */
  creators(userId: string): Promise<VisibleCreator[]> {
    return this.database.rows<VisibleCreator>(listCreators, [userId]);
  }

  async organisationName(organisationId: string | null): Promise<string | undefined> {
    if (organisationId === null) return undefined;
    return (await this.database.row<{ name: string }>(findOrganisation, [organisationId]))?.name;
  }

  /** Whether the user may act for a creator; global admins may act for all. */
  async mayActFor(userId: string, creatorId: string): Promise<boolean> {
    return (await this.database.row(findVisibleCreator, [userId, creatorId])) !== undefined;
  }
}
