import { mayAssumeRoleSql } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** SQL: lets the database user assume the request roles (visibility/visibility.ts), if it may grant them. */
export const grantRequestRoles = `
  DO $$
  DECLARE
    request_roles text[] := ARRAY['creator_api_member', 'creator_api_operator'];
    request_role text;
  BEGIN
    FOREACH request_role IN ARRAY request_roles LOOP
      IF NOT ${mayAssumeRoleSql('request_role')} THEN
        EXECUTE format('GRANT %I TO %I', request_role, current_user);
      END IF;
    END LOOP;
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'The database user % may not assume the request roles. As a superuser: %', current_user,
      (SELECT string_agg(format('GRANT %I TO %I;', name, current_user), ' ') FROM unnest(request_roles) AS name);
  END $$;
`;

/** Since PostgreSQL 16, a user that creates a role, as the baseline does, may not assume it. */
export class RequestRoles implements MigrationInterface {
  readonly name = 'RequestRoles1796083200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(grantRequestRoles);
  }

  async down(): Promise<void> {} // a role that may be assumed harms no earlier version
}
