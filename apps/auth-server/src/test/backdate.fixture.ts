import type { RunningServer } from './running-server.fixture.js';
import { testStatement } from './test-statement.fixture.js';

type StoredModel = 'AuthorizationCode' | 'AccessToken' | 'RefreshToken';

/** Expires a client's codes or tokens, by more than the tolerance for clock differences. */
export async function expire(server: RunningServer, model: StoredModel, clientId: string): Promise<void> {
  await server.database.run(
    testStatement(`UPDATE oidc_model SET expires_at = now() - interval '1 minute',
        payload = jsonb_set(payload, '{exp}', to_jsonb(floor(extract(epoch FROM now()))::bigint - 60))
      WHERE model = $1 AND client_id = $2`),
    [model, clientId],
  );
}

/** Moves a person's sign-ins in all browsers into the past, and the last change of the password with them. */
export async function ageSignIns(
  server: RunningServer,
  userId: string,
  { seconds }: { readonly seconds: number },
): Promise<void> {
  await server.database.run(
    testStatement(`UPDATE oidc_model SET payload = jsonb_set(payload, '{loginTs}', to_jsonb((payload ->> 'loginTs')::bigint - $2))
      WHERE model = 'Session' AND account_id = $1`),
    [userId, seconds],
  );
  await server.database.run(
    testStatement(
      `UPDATE users SET password_changed_at = password_changed_at - $2 * interval '1 second' WHERE id = $1::uuid`,
    ),
    [userId, seconds],
  );
}

/** Moves a password change to at least a second after all sign-ins, whose times are in whole seconds. */
export async function movePasswordChangeAfterSignIns(server: RunningServer, email: string): Promise<void> {
  await server.database.run(
    testStatement(`UPDATE users SET password_changed_at = now() + interval '2 seconds' WHERE email = $1`),
    [email],
  );
}

/** Moves the set-up of a person's second factor into the past. */
export async function ageSecondFactorSetup(
  server: RunningServer,
  email: string,
  { minutes }: { readonly minutes: number },
): Promise<void> {
  await server.database.run(
    testStatement(`UPDATE second_factors SET created_at = created_at - $2 * interval '1 minute'
      WHERE user_id = (SELECT id FROM users WHERE email = $1)`),
    [email, minutes],
  );
}

/** Moves the start of a client's token families into the past, as their refresh tokens record it. */
export async function ageFamilies(server: RunningServer, clientId: string, seconds: number): Promise<void> {
  await server.database.run(
    testStatement(`UPDATE oidc_model SET payload = jsonb_set(payload, '{iiat}',
        to_jsonb(coalesce((payload ->> 'iiat')::bigint, (payload ->> 'iat')::bigint) - $2))
      WHERE model = 'RefreshToken' AND client_id = $1`),
    [clientId, seconds],
  );
}

/** Returns the remaining lifetime of a client's newest unused refresh token; 0 without one. */
export async function refreshTokenSecondsLeft(server: RunningServer, clientId: string): Promise<number> {
  const row = await server.database.row<{ left: number }>(
    testStatement(`SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM oidc_model
      WHERE model = 'RefreshToken' AND client_id = $1 AND consumed_at IS NULL ORDER BY created_at DESC LIMIT 1`),
    [clientId],
  );
  return row?.left ?? 0;
}
