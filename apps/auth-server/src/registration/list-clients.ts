import { type Database, statement } from '@fulfilment/database';

interface ListedClient {
  readonly client_id: string;
  readonly name: string | null;
  readonly first_party: boolean;
  readonly confidential: boolean;
  readonly resource_server: boolean;
  readonly redirect_uris: readonly string[];
  readonly registered_at: Date;
  /** When a client that registered itself and was never authorized is deleted. */
  readonly expires_at: Date | null;
}

interface ClientPage {
  readonly clients: readonly ListedClient[];
  /** Value of `--after` for the next page; null at the end. */
  readonly next: string | null;
}

const readPage = statement(
  'clients.page',
  `SELECT id AS client_id, payload ->> 'client_name' AS name, coalesce((payload ->> 'first_party')::boolean, false) AS first_party,
     payload ->> 'token_endpoint_auth_method' IS DISTINCT FROM 'none' AS confidential,
     coalesce((payload ->> 'resource_server')::boolean, false) AS resource_server,
     payload -> 'redirect_uris' AS redirect_uris, created_at AS registered_at, expires_at
   FROM oidc_model WHERE model = 'Client' AND id > $1 AND (expires_at IS NULL OR expires_at > now())
   ORDER BY id LIMIT $2`,
);

/** Lists clients by id. @param limit 1 to 1000 */
export async function listClients(database: Database, after: string, limit: number): Promise<ClientPage> {
  const rows = await database.rows<ListedClient>(readPage, [after, limit + 1]);
  const clients = rows.slice(0, limit);
  return { clients, next: rows.length > limit ? (clients.at(-1)?.client_id ?? null) : null };
}
