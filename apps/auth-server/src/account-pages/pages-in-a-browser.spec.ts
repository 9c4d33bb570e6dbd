import { openChromium } from '@fulfilment/testing/chromium';
import axe from 'axe-core';
import { Secret, TOTP } from 'otpauth';
import type { Browser as Chromium, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { App, thirdPartyRedirect } from '../test/app.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { password } from '../test/users.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

const email = 'owner@meridian.example';
/** The descriptions and options of the browsers in which the tests run. */
const screens: readonly (readonly [string, BrowserContextOptions])[] = [
  ['a wide screen without JavaScript', { viewport: { width: 1200, height: 800 }, javaScriptEnabled: false }],
  ['a wide screen', { viewport: { width: 1200, height: 800 } }],
  ['a small dark screen', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
];

startServer({ SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'true' });
let chromium: Chromium;
let app: App;
beforeAll(async () => {
  chromium = await openChromium();
  app = await App.register(server, { client_name: 'Tour Merch Planner' });
});
afterAll(() => chromium.close());

/** Types one value into each input, starting with the input that has the focus, and presses Enter. */
async function fillByKeyboard(page: Page, values: readonly string[]): Promise<void> {
  await page.locator('input:focus').waitFor();
  for (const [index, value] of values.entries()) {
    if (index > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(value);
  }
  await page.keyboard.press('Enter');
}

/**
 * Returns the violations of WCAG 2.2 A and AA and of best practices that axe finds, and a problem if the page
 * scrolls horizontally. Without JavaScript, which axe needs, only the scrolling is checked.
 */
async function findProblems(page: Page, { javaScriptEnabled }: BrowserContextOptions): Promise<unknown[]> {
  const violations = javaScriptEnabled === false ? [] : await axeViolations(page);
  const scrollsHorizontally = await page
    .locator('html')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  return [
    ...violations.map(({ id, nodes }) => [page.url(), id, nodes.map(({ html }) => html)]),
    ...(scrollsHorizontally ? [[page.url(), 'scrolls horizontally']] : []),
  ];
}

async function axeViolations(page: Page): Promise<axe.Result[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (tags) => axe.run({ runOnly: tags }),
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  );
  return violations;
}

describe.each(screens)('on %s', (_, options) => {
  let context: BrowserContext;
  let page: Page;
  let consoleMessages: string[];
  let foreignOrigins: string[];
  beforeEach(async () => {
    context = await chromium.newContext({ ...options, ignoreHTTPSErrors: true });
    context.setDefaultTimeout(60_000);
    page = await context.newPage();
    consoleMessages = [];
    foreignOrigins = [];
    page.on('console', (message) => consoleMessages.push(message.text()));
    page.on('pageerror', (error) => consoleMessages.push(error.message));
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (origin !== server.url && !request.url().startsWith(thirdPartyRedirect)) foreignOrigins.push(origin);
    });
  });
  afterEach(async () => {
    await context.close();
  });

  it('a person signs in, selects a creator with the arrow keys and consents by keyboard', async () => {
    const { url } = await app.request('openid orders:read offline_access', { prompt: 'consent' });
    await page.goto(url);
    await fillByKeyboard(page, [email, 'wrong']);
    await page.getByRole('alert').waitFor();
    await page.locator('#password:focus').waitFor();
    await fillByKeyboard(page, [password]);
    await page.getByRole('heading', { name: 'Allow Tour Merch Planner (app.example)?' }).waitFor();
    await page.getByRole('radio', { name: 'First of Meridian' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: 'Second of Meridian' }).isChecked()).toBe(true);
    await page.keyboard.press('Tab');
    const sentBack = page.waitForRequest((request) => request.url().startsWith(thirdPartyRedirect));
    await page.keyboard.press('Enter');
    const response = new URL((await sentBack).url()).searchParams;
    expect(response.get('code')).toEqual(expect.any(String));
    // Allowed: the 401 of the wrong password, and the redirect to an app whose host does not exist.
    expect(consoleMessages.filter((text) => !/401|ERR_NAME/.test(text))).toEqual([]);
    expect(foreignOrigins).toEqual([]);
  });

  it('the pages of sign-in, account, second factor, sign-out, errors and consent are accessible', async () => {
    const problems: unknown[] = [];
    const check = async (path?: string): Promise<void> => {
      if (path !== undefined) await page.goto(`${server.url}${path}`);
      problems.push(...(await findProblems(page, options)));
    };
    await check('/account/apps');
    await fillByKeyboard(page, [email, 'wrong']);
    await page.getByRole('alert').waitFor();
    await check();
    await fillByKeyboard(page, [password]);
    await page.getByRole('heading', { name: 'Connected apps' }).waitFor();
    await check();
    for (const path of ['/account', '/account/browsers', '/account/security']) await check(path);
    await check('/account/security/second-factor');
    await check('/account/signed-out');
    await check('/api/auth/oauth2/end-session');
    await check('/api/auth/oauth2/authorize?client_id=unknown');
    const { url } = await app.request('openid orders:read offline_access', { prompt: 'consent' });
    await page.goto(url);
    await check();
    expect(problems).toEqual([]);
    // Allowed: the 401 of the wrong password, and the 400 of the unknown client.
    expect(consoleMessages.filter((text) => !/40[01]/.test(text))).toEqual([]);
    expect(foreignOrigins).toEqual([]);
  });

  it('a global admin sets up the required second factor and signs in with it', async () => {
    // On the previous screen, this test has set up a second factor for the same person.
    await server.database.run(testStatement('DELETE FROM second_factors'));
    await page.goto(`${server.url}/account/security`);
    await fillByKeyboard(page, ['operator@platform.example', password]);
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    const problems = await findProblems(page, options);
    await page.getByText('Can’t scan the code?').click();
    const key = (await page.locator('details code').textContent()) ?? '';
    const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) });
    await page.getByLabel('Code from the app').fill(totp.generate());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    problems.push(...(await findProblems(page, options)));
    expect(await page.getByRole('listitem').count()).toBe(10);
    await page.getByRole('button', { name: 'I have saved my codes' }).click();
    await page.getByRole('heading', { name: 'Security' }).waitFor();
    problems.push(...(await findProblems(page, options)));

    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${server.url}/account`);
    await fillByKeyboard(page, ['operator@platform.example', password]);
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    problems.push(...(await findProblems(page, options)));
    // The next code, which is valid half a minute early. The current one was used for the set-up.
    await fillByKeyboard(page, [totp.generate({ timestamp: Date.now() + 30_000 })]);
    await page.waitForURL(`${server.url}/account`);
    expect(problems).toEqual([]);
    expect(consoleMessages).toEqual([]);
    expect(foreignOrigins).toEqual([]);
  });
});

describe('another site', () => {
  it('can neither frame a page nor submit its forms with the session', async () => {
    const context = await chromium.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(`${server.url}/account/security`);
    await fillByKeyboard(page, [email, password]);
    await page.getByRole('heading', { name: 'Security' }).waitFor();
    await page.route('https://evil.example/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<iframe src="${server.url}/account/security"></iframe>
               <form method="post" action="${server.url}/account/browsers/sign-out">
               <input name="session" value="others"><button>Win</button></form>`,
      }),
    );
    await page.goto('https://evil.example/');
    const framed = page.frames().find((frame) => frame.parentFrame() !== null);
    expect(await framed?.getByRole('heading').count()).toBe(0);
    await page.getByRole('button').click();
    await page.waitForURL(`${server.url}/**`);
    // The browser sends the form without the session cookie, so the response redirects to the sign-in. The
    // redirected request has the cookie and leads to the page, which has no notice that browsers were signed
    // out.
    await page.getByRole('heading', { name: 'Browsers' }).waitFor();
    expect(await page.getByRole('status').count()).toBe(0);
    await context.close();
  });
});
