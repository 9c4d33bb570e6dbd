import { Outbox } from '@fulfilment/messaging';
import { identityDigest, identityOf } from '../registration/client-identity.rules.js';
import { App, registerClient, thirdPartyRedirect } from '../test/app.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { newUser } from '../test/users.fixture.js';
import { Consents } from './consents.js';

startServerWithOperator();

describe('a consent that a person without a creator gave', () => {
  it('is remembered until the organisation has a creator; then the next authorization requests a consent for the creator', async () => {
    const { org_id: organisation } = await runCommand('organisation create', { name: 'Quiet Records' });
    const { email } = await newUser(server, { organisation, role: 'member' });
    const app = await App.register(server);
    await app.signIn('orders:read offline_access', { email });
    const readSteps = async () => (await app.authorize('orders:read offline_access', { email })).steps;
    expect(await readSteps()).toEqual(['login']);
    await runCommand('creator create', { organisation, name: 'The Hush', 'payment-method': 'pm_ok' });
    expect(await readSteps()).toEqual(['login', 'consent']);
    expect(await readSteps()).toEqual(['login']);
  });
});

describe('a new consent', () => {
  const readExpiry = testStatement(`SELECT expires_at FROM oidc_model WHERE model = 'Client' AND id = $1`);
  const saveConsent = async (userId: string) => {
    const metadata = { client_name: 'An app', redirect_uris: [thirdPartyRedirect] };
    const { client_id: clientId } = await registerClient(server, metadata);
    const appIdentity = identityDigest(identityOf(metadata));
    const consents = new Consents(server.database, new Outbox());
    const save = (identity: string) =>
      consents.save({
        userId,
        clientId,
        appIdentity: identity,
        creatorId: undefined,
        scopes: ['orders:read'],
      });
    return { clientId, save, isSaved: await save(appIdentity) };
  };

  it('ends the expiry of a client that registered itself, in the same commit', async () => {
    const { clientId, isSaved } = await saveConsent(server.users.harbourOwner.user_id);
    expect(isSaved).toBe(true);
    expect(await server.database.row(readExpiry, [clientId])).toEqual({ expires_at: null });
  });

  it('is not stored for another identity of the client, not even next to an earlier consent', async () => {
    const { save } = await saveConsent(server.users.harbourOwner.user_id);
    expect(await save('digest of an earlier identity')).toBe(false);
  });

  it('is not stored for a person who was redacted since the page was shown, and leaves the expiry of the client', async () => {
    const { user_id: userId } = await newUser(server);
    await runCommand('user redact', { USER: userId });
    const { clientId, isSaved } = await saveConsent(userId);
    expect(isSaved).toBe(false);
    expect(await server.database.row(readExpiry, [clientId])).toEqual({ expires_at: expect.any(Date) });
  });
});
