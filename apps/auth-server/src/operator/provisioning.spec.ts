import { startWhileLocked } from '@fulfilment/database/testing';
import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { App } from '../test/app.fixture.js';
import { messagesInOutbox } from '../test/messages-in-outbox.fixture.js';
import { auditRecordsOf, runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { authenticatorOf, beginSetup, submitPassword } from '../test/second-factors.fixture.js';
import { server } from '../test/server.fixture.js';
import { isDenied } from '../test/token-states.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const harbour = { organisation: 'org_harbour', role: 'member' } as const;
const createMember = (email: string) => runCommand('user create', { email, password, ...harbour });

describe('user disable', () => {
  it('ends sessions and tokens immediately, and prevents sign-in until user enable', async () => {
    const email = 'leaver@harbour.example';
    await createMember(email);
    const app = await App.register(server);
    const { tokens, browser } = await app.signIn('openid offline_access', { email });
    expect(await runCommand('user disable', { USER: email.toUpperCase() })).toMatchObject({
      disabled: true,
      tokens_ended: 1, // counts only access tokens
    });
    expect(await isDenied(tokens.access_token)).toBe(true);
    expect(await client.tokenIntrospection(app.configuration, tokens.access_token)).toEqual({
      active: false,
    });
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    const repeated = await app.authorize('openid', { email, browser });
    expect(repeated).toMatchObject({ steps: ['login'], shown: { status: 401 } });
    await runCommand('user disable', { USER: email }); // the audit log does not repeat it
    await runCommand('user enable', { USER: email });
    expect((await app.authorize('openid', { email })).shown.url.searchParams.has('code')).toBe(true);
    const records = await auditRecordsOf({ user: email });
    expect(records.map(({ event }) => event).filter((event) => event.startsWith('user_'))).toEqual([
      'user_created',
      'user_disabled',
      'user_enabled',
    ]);
    expect(records[0]).toMatchObject({ email, ip: null, details: { actor: 'operator', ...harbour } });
  });

  it('rejects an unknown user', async () => {
    await expect(runCommand('user disable', { USER: 'no@body.example' })).rejects.toThrow(
      'The user no@body.example does not exist.',
    );
  });
});

describe('user password', () => {
  it.each([
    ['it', 'user password', (email: string) => ({ USER: email })],
    ['user create', 'user create', (email: string) => ({ email, ...harbour })],
  ] as const)(
    'and %s ends an open set-up of a second factor, whose secret the thief of the password may have seen',
    async (_, command, optionsFor) => {
      const { email } = await newUser(server);
      const browser = new FormBrowser(server);
      await submitPassword(server, email, browser);
      await beginSetup(server, browser);
      await runCommand(command, { ...optionsFor(email), password: 'known to the owner only' });
      const readFactors = testStatement(
        'SELECT FROM second_factors JOIN users ON id = user_id WHERE email = $1',
      );
      expect(await server.database.rows(readFactors, [email])).toEqual([]);
    },
  );

  it('signs the person out everywhere, and only the new password is accepted', async () => {
    const email = 'forgetful@harbour.example';
    await createMember(email);
    const app = await App.register(server);
    const { tokens, browser } = await app.signIn('openid offline_access', { email });
    await runCommand('user password', { USER: email, password: 'quite another password' });
    expect(await isDenied(tokens.access_token)).toBe(true);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await app.authorize('openid', { email, browser })).shown.status).toBe(401);
    await runCommand('user password', { USER: email, password });
    expect((await app.authorize('openid', { email })).shown.url.searchParams.has('code')).toBe(true);
    expect((await auditRecordsOf({ user: email, event: 'password_changed' })).length).toBe(2);
  });
});

describe('user create with another password for an existing user', () => {
  it('ends the access tokens', async () => {
    const email = 'again@harbour.example';
    await createMember(email);
    const app = await App.register(server);
    const { tokens } = await app.signIn('openid offline_access', { email });
    await runCommand('user create', { email, password: 'quite another password', ...harbour });
    expect(await isDenied(tokens.access_token)).toBe(true);
  });

  it('leaves a disabled user disabled, and shows this in its output', async () => {
    const email = 'still-disabled@harbour.example';
    expect(await createMember(email)).toMatchObject({ disabled: false });
    await runCommand('user disable', { USER: email });
    const other = { email, password: 'quite another password', ...harbour };
    expect(await runCommand('user create', other)).toMatchObject({ disabled: true });
  });
});

describe('user role', () => {
  it('ends the access tokens at each change, and all tokens when the person leaves the organisation', async () => {
    const email = 'promoted@harbour.example';
    await createMember(email);
    const app = await App.dashboard(server);
    const { tokens, browser } = await app.signIn('openid offline_access', { email });
    const change = { USER: email, role: 'admin', organisation: 'org_harbour' };
    expect(await runCommand('user role', change)).toMatchObject({ org_role: 'admin', changed: true });
    expect(await isDenied(tokens.access_token)).toBe(true);
    const refreshed = await app.refresh(tokens.refresh_token ?? '');
    expect(decodeJwt(refreshed.access_token).org_role).toBe('admin');
    const { tokens: later } = await app.signIn('openid offline_access', { email, browser });
    expect(decodeJwt(later.access_token).org_role).toBe('admin');
    expect(await runCommand('user role', change)).toMatchObject({ changed: false });
    expect(await isDenied(refreshed.access_token)).toBe(false);
    await runCommand('user role', { USER: email, role: 'none', organisation: 'org_harbour' });
    await expect(app.refresh(refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(await runCommand('user role', { USER: email, role: 'global_admin' })).toMatchObject({
      org_id: null,
      changed: true,
    });
    expect((await auditRecordsOf({ user: email, event: 'user_role_changed' })).length).toBe(3);
  });

  it('rejects the removal of a role without --organisation, and names the organisations of the person', async () => {
    const USER = 'leaving@harbour.example';
    await createMember(USER);
    const app = await App.dashboard(server);
    const { tokens } = await app.signIn('openid offline_access', { email: USER });
    await expect(runCommand('user role', { USER, role: 'none' })).rejects.toThrow(
      '--organisation is missing: leaving@harbour.example has a role in org_harbour.',
    );
    expect(await isDenied(tokens.access_token)).toBe(false);
  });

  it('rejects a user who would be global admin and a member of an organisation', async () => {
    const member = await createMember('member@harbour.example');
    await expect(runCommand('user role', { USER: member.user_id, role: 'global_admin' })).rejects.toThrow(
      'belongs to an organisation and cannot become a global_admin',
    );
    const { user_id: USER } = server.users.globalAdmin;
    await expect(
      runCommand('user role', { USER, role: 'owner', organisation: 'org_harbour' }),
    ).rejects.toThrow('cannot belong to an organisation');
  });
});

describe('creator change', () => {
  it('publishes each change with an increasing version, and audits which fields changed', async () => {
    const created = await runCommand('creator create', {
      organisation: 'org_harbour',
      name: 'The Mole',
      'payment-method': 'none',
      'payment-terms': 'no',
    });
    const CREATOR = created.id;
    const changed = [
      await runCommand('creator change', {
        CREATOR,
        'payment-method': 'pm_ok',
        'payment-terms': 'yes',
      }),
      await runCommand('creator change', { CREATOR, name: 'The Moles', 'tax-interview': 'no' }),
      await runCommand('creator payment-method', { CREATOR, METHOD: 'none' }),
    ];
    const ids: string[] = [created, ...changed].map(({ message_id }) => message_id);
    const published = await messagesInOutbox(...ids);
    expect(published.map(({ type }) => type)).toEqual([
      'creator.registered',
      ...changed.map(() => 'creator.changed'),
    ]);
    expect(published.map(({ data }) => data)).toMatchObject([
      { creator: { version: 1, payment_method: null, payment_terms_accepted: false } },
      { creator: { version: 2, payment_method: 'pm_ok', payment_terms_accepted: true, name: 'The Mole' } },
      { creator: { version: 3, name: 'The Moles', tax_interview_completed: false, payment_method: 'pm_ok' } },
      { creator: { version: 4, payment_method: null } },
    ]);
    const records = await auditRecordsOf({ event: 'creator_changed' });
    expect(records.slice(-3).map(({ details }) => details.changed)).toEqual([
      ['paymentMethod', 'paymentTermsAccepted'],
      ['name', 'taxInterviewCompleted'],
      ['paymentMethod'],
    ]);
  });

  it.each([
    [{ CREATOR: 'crt_x' }, 'has no changes'],
    [{ CREATOR: 'crt_x', 'payment-terms': 'perhaps' }, 'must be one of yes, no'],
    [{ CREATOR: 'crt_x', 'payment-terms': 'yes' }, 'The creator crt_x does not exist.'],
  ])('rejects the arguments %j', async (options, message) => {
    await expect(runCommand('creator change', options)).rejects.toThrow(message);
  });
});

describe('creator create --test', () => {
  const options = {
    organisation: 'org_harbour',
    name: 'The Badger',
    'payment-method': 'pm_ok',
    id: '01900000-0000-7000-8000-00000000beef',
  };

  it('registers a test creator and publishes its mode', async () => {
    const { message_id } = await runCommand('creator create', { ...options, test: 'yes' });
    expect(await messagesInOutbox(message_id)).toMatchObject([{ data: { creator: { test: true } } }]);
  });

  it('is rejected without --test for an existing test creator', async () => {
    await runCommand('creator create', { ...options, test: 'yes' });
    await expect(runCommand('creator create', options)).rejects.toThrow('is a test creator');
  });
});

describe('creator redact', () => {
  it('removes name and payment method, publishes creator.changed, and is audited once when it is repeated', async () => {
    const { id: CREATOR, uuid } = await runCommand('creator create', {
      organisation: 'org_harbour',
      name: 'The Badger',
      'payment-method': 'pm_ok',
      'settlement-currency': 'EUR',
    });
    const { message_id, ...redacted } = await runCommand('creator redact', { CREATOR });
    expect(redacted).toEqual({ uuid, id: CREATOR, redacted: true });
    expect(await messagesInOutbox(message_id)).toMatchObject([
      {
        type: 'creator.changed',
        data: {
          creator: {
            id: uuid,
            version: 2,
            name: null,
            payment_method: null,
            payment_terms_accepted: true,
            settlement_currency: 'EUR',
          },
        },
      },
    ]);
    expect(await runCommand('creator redact', { CREATOR: uuid })).toEqual({
      uuid,
      id: CREATOR,
      redacted: true,
      message_id: null,
    });
    const records = (await auditRecordsOf({ event: 'creator_changed' })).map(({ details }) => details);
    expect(records.filter(({ creator }) => creator === uuid)).toEqual([
      {
        actor: 'operator',
        creator: uuid,
        version: 2,
        changed: ['name', 'paymentMethod'],
        redacted: true,
      },
    ]);
    expect(JSON.stringify(records)).not.toContain('The Badger');
  });

  it.each(['crt_x', '01900000-0000-7000-8000-000000000001'])(
    'rejects the unknown creator %s',
    async (CREATOR) => {
      await expect(runCommand('creator redact', { CREATOR })).rejects.toThrow(
        `The creator ${CREATOR} does not exist.`,
      );
    },
  );
});

describe('user reset-second-factor', () => {
  it('lets a person who lost the app and the recovery codes sign in, and ends the browser session', async () => {
    const email = 'lost-phone@harbour.example';
    await createMember(email);
    const app = await App.register(server);
    const { browser } = await app.signIn('openid', { email });
    await server.database.run(
      testStatement(`INSERT INTO second_factors (user_id, secret_encrypted, confirmed_at)
        SELECT id, '\\x00', now() FROM users WHERE email = $1`),
      [email],
    );
    expect(await runCommand('user reset-second-factor', { USER: email })).toMatchObject({
      had_second_factor: true,
    });
    const repeated = await app.authorize('openid', { email, browser });
    expect(repeated.steps).toContain('login');
    expect(repeated.shown.url.searchParams.has('code')).toBe(true);
    expect((await auditRecordsOf({ user: email })).map(({ event }) => event)).toContain(
      'second_factor_removed',
    );
    const insertUnconfirmed = testStatement(`INSERT INTO second_factors (user_id, secret_encrypted)
      SELECT id, '\\x00' FROM users WHERE email = $1`);
    await server.database.run(insertUnconfirmed, [email]);
    expect(await runCommand('user reset-second-factor', { USER: email })).toMatchObject({
      had_second_factor: false,
    });
  });

  it('cannot deadlock with a person who confirms a second factor', async () => {
    const email = 'two-browsers@harbour.example';
    await createMember(email);
    const [browser, other] = [new FormBrowser(server), new FormBrowser(server)];
    for (const each of [browser, other]) await submitPassword(server, email, each);
    const setup = await beginSetup(server, browser);
    const [reset, confirmed] = await startWhileLocked(
      server.database,
      (tx) => tx.run(testStatement('SELECT FROM users WHERE email = $1 FOR UPDATE'), [email]),
      () => runCommand('user reset-second-factor', { USER: email }),
      () => browser.submit(formOf(setup, '/second-factor'), { code: authenticatorOf(setup).generate() }),
    );
    expect(reset).toMatchObject({ had_second_factor: false });
    expect(confirmed.status).toBe(409);
  });
});
