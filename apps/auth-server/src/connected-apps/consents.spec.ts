import { App } from '../test/app.js';
import { runCommand, startServerWithOperator } from '../test/operator.js';
import { server } from '../test/server.js';
import { newUser } from '../test/users.js';

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
