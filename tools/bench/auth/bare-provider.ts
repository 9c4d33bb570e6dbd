import { listen } from '@fulfilment/testing/listen';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';

// The baseline, in a separate process: oidc-provider without changes, with the features that the benchmark
// uses. It stores everything in maps, since its own memory adapter keeps only the 1000 newest entries, which
// would evict valid tokens under load. Prints one line of JSON: its port, its clients and its refresh tokens.
// The first argument is the number of token families, each with one refresh token.
const familyCount = Number(process.argv[2]);
const publicClient = 'app';
const resourceServer = { client_id: 'resource-server', client_secret: 'a-secret-of-a-resource-server' };
const scope = 'openid offline_access';

class MapAdapter implements Adapter {
  private readonly rows = new Map<string, AdapterPayload>();
  private readonly grants = new Map<string, Set<string>>();

  upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.rows.set(id, payload);
    if (payload.grantId !== undefined) {
      const members = this.grants.get(payload.grantId) ?? new Set();
      this.grants.set(payload.grantId, members.add(id));
    }
    return Promise.resolve();
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(this.rows.get(id));
  }

  consume(id: string): Promise<void> {
    const row = this.rows.get(id);
    if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000);
    return Promise.resolve();
  }

  destroy(id: string): Promise<void> {
    this.rows.delete(id);
    return Promise.resolve();
  }

  revokeByGrantId(grantId: string): Promise<void> {
    for (const id of this.grants.get(grantId) ?? []) this.rows.delete(id);
    this.grants.delete(grantId);
    return Promise.resolve();
  }

  findByUid(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

const server = createServer();
const { port } = await listen(server);
await start();

async function start(): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    adapter: MapAdapter,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: publicClient,
        redirect_uris: ['https://app.example/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
      { ...resourceServer, redirect_uris: [], response_types: [], grant_types: [] },
    ],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
    },
    ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400, IdToken: 3600 },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  const client = await provider.Client.find(publicClient);
  if (client === undefined) throw new Error('The client is not known.');
  const refreshTokens: string[] = [];
  for (let family = 0; family < familyCount; family += 1) {
    const accountId = `person-${family}`;
    const grant = new provider.Grant({ accountId, clientId: publicClient });
    grant.addOIDCScope(scope);
    const grantId = await grant.save();
    const token = new provider.RefreshToken({ accountId, client, grantId, scope, gty: 'authorization_code' });
    refreshTokens.push(await token.save());
  }
  console.log(JSON.stringify({ port, client_id: publicClient, resourceServer, refreshTokens }));
}
