import { formOf } from '@fulfilment/testing/form-browser';
import { App } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { fetchUserInfo } from '../test/token-states.fixture.js';
import { newUser } from '../test/users.fixture.js';

startServer();

const userInfo = async (token: string) => json(await fetchUserInfo(token));

const newPersonOnAccountPage = async () => {
  const named = { organisation: 'org_harbour', role: 'member', name: 'Ada Example' } as const;
  const { email } = await newUser(server, named);
  const app = await App.register(server);
  const { tokens, browser } = await app.signIn('openid profile email', { email });
  const page = await browser.get(`${server.url}/account`);
  return { email, accessToken: tokens.access_token, browser, page, form: formOf(page, '/account/name') };
};

describe('the name of a person', () => {
  it('is in UserInfo with the scope profile, and can be changed and removed on the account page', async () => {
    const { email, accessToken, browser, form } = await newPersonOnAccountPage();
    expect(await userInfo(accessToken)).toMatchObject({ name: 'Ada Example', email_verified: false });
    const saved = await browser.submit(form, { name: '  Ada  Lovelace ' });
    expect(saved.text).toContain('Your name has been changed.');
    expect((await userInfo(accessToken)).name).toBe('Ada  Lovelace');
    await browser.submit(form, { name: '' });
    expect(await userInfo(accessToken)).not.toHaveProperty('name');
    expect(await auditEventsOf(server, { email, event: 'name_changed' })).toHaveLength(2);
  });

  it('stays unchanged, and the page has the status 400, when the new one is not valid', async () => {
    const { email, accessToken, browser, page, form } = await newPersonOnAccountPage();
    for (const name of ['\u200b', 'a\u202eb', 'a\tb', 'x'.repeat(201)])
      expect((await browser.submit(form, { name })).status).toBe(400);
    const { csrf = '' } = form.hidden;
    for (const fields of ['', 'name=Ada%00', 'name=%ff', 'name=Ada&name=', `name=${'x'.repeat(5000)}`]) {
      const response = await server.fetch(`${server.url}/account/name`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: server.url,
          cookie: browser.cookieHeader(page.url),
        },
        body: `csrf=${csrf}&${fields}`,
      });
      expect([fields, response.status]).toEqual([fields, 400]);
      expect(response.headers.get('content-type')).toContain('text/html');
    }
    expect((await userInfo(accessToken)).name).toBe('Ada Example');
    expect(await auditEventsOf(server, { email, event: 'name_changed' })).toEqual([]);
  });
});
