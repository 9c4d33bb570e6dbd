import { eventually } from '@fulfilment/testing';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ApiClient, bodyOf } from './api-client.js';
import { operate, operateAll } from './operator.js';
import { dashboardToken, signIn } from './sign-in.js';
import type { User } from './the-suite.js';

/** All scopes that an operation of the Store API requires. None requires `releases:write`. */
export const storeScopes = [
  'creator:read',
  'releases:read',
  'orders:read',
  'orders:create',
  'orders:cancel',
  'shipping:read',
  'webhooks:read',
  'webhooks:create',
  'webhooks:update',
  'webhooks:delete',
] as const;

const withId = z.object({ id: z.string() });
const redirectUri = 'https://merchant.example/callback';

export type Merchant = Awaited<ReturnType<typeof newMerchant>>;

export type Product = Awaited<ReturnType<typeof newProduct>>;

/**
 * Creates a merchant as the operator, and signs the owner in: a new organisation with an owner, one creator,
 * and a third-party app with `storeScopes`.
 * @param creatorOptions further options of the command `creator create`
 */
export async function newMerchant(paymentMethod = 'pm_ok', creatorOptions: readonly string[] = []) {
  const name = `Merchant ${randomBytes(4).toString('hex')}`;
  const owner = {
    email: `${randomBytes(6).toString('hex')}@merchant.example`,
    password: 'correct horse battery',
  };
  const organisationId = `org_${randomBytes(8).toString('hex')}`;
  const creatorArguments = ['--organisation', organisationId, '--name', name, ...creatorOptions];
  const [creator, { client_id: clientId }] = await operateAll(
    [
      ['organisation', 'create', '--id', organisationId, '--name', name],
      ['creator', 'create', ...creatorArguments, '--payment-method', paymentMethod],
      ['client', 'create', '--name', name, '--redirect-uri', redirectUri],
      userCommand(organisationId, owner, 'owner'),
    ],
    z
      .tuple([
        z.unknown(),
        z.object({ uuid: z.uuid(), id: z.string() }),
        z.object({ client_id: z.string() }),
        z.unknown(),
      ])
      .transform(([, ...created]) => created),
  );
  const app = { clientId, redirectUri };
  const [thirdParty, session] = await Promise.all([
    signIn(owner, app, storeScopes),
    dashboardToken(owner, storeScopes),
  ]);
  return {
    organisationId,
    owner,
    creator,
    app,
    /** The third-party app, connected to the creator. */
    store: new ApiClient(thirdParty.access_token),
    /** The owner's first-party session. */
    dashboard: new ApiClient(session),
  };
}

/** Creates an account that is a member of the organisation. */
export async function newMember(organisationId: string, user: User): Promise<void> {
  await operate(userCommand(organisationId, user, 'member'));
}

function userCommand(organisationId: string, { email, password }: User, role: string): readonly string[] {
  const account = ['--email', email, '--password', password];
  return ['user', 'create', ...account, '--organisation', organisationId, '--role', role];
}

/**
 * Creates a release through the Creator API and approves it as the operator: one product that can be ordered.
 */
export async function newProduct(merchant: Pick<Merchant, 'dashboard' | 'store'>) {
  const title = `Release ${randomBytes(4).toString('hex')}`;
  const created = await merchant.dashboard
    .post('/creator/api/v1/releases', { title, release_type_id: 1 })
    .expect(201);
  const { id: releaseUuid } = bodyOf(created, z.object({ id: z.uuid() }));
  const releaseId = await storeReleaseId(merchant, title);
  await operate(['release', 'approve', releaseUuid]);
  const release = await merchant.store.get(`/store/v1/releases/${releaseId}`).expect(200);
  const { products } = bodyOf(release, z.object({ products: z.tuple([withId]) }));
  return { releaseUuid, releaseId, sku: products[0].id };
}

/** Waits until the Store API lists the release, and returns its id there. */
export function storeReleaseId({ store }: Pick<Merchant, 'store'>, title: string): Promise<string> {
  return eventually(async () => {
    const found = await store.get(`/store/v1/releases?search=${encodeURIComponent(title)}`).expect(200);
    return bodyOf(found, z.object({ data: z.array(withId) })).data[0]?.id;
  });
}
