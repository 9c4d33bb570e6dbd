import { FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { Secret, TOTP } from 'otpauth';
import { makeUser } from './make-user.js';
import { password, type RunningServer } from './running-server.js';

const halfMinuteMs = 30_000;
let people = 0;
/** Creates a user for one test, so that failures and codes do not affect other tests. */
export async function person(server: RunningServer, role?: 'global_admin'): Promise<string> {
  people += 1;
  const email = `factor-${String(people)}@harbour.example`;
  const place = role === undefined ? ({ organisation: 'org_harbour', role: 'member' } as const) : { role };
  await makeUser(server.database, { email, password, ...place });
  return email;
}

/** Signs in with the password, up to the second factor. */
export async function afterPassword(
  server: RunningServer,
  email: string,
  browser = new FormBrowser(server),
): Promise<Page> {
  const page = await browser.get(`${server.url}/account/security`);
  return browser.submit(formOf(page, '/login'), { email, password });
}

/** An authenticator app with the secret of the page. */
export function authenticator(page: Page): TOTP {
  const key = /<code>([A-Z2-7 ]{30,})<\/code>/.exec(page.text)?.[1] ?? '';
  return new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) });
}

export function recoveryCodes(page: Page): string[] {
  return [...page.text.matchAll(/<code>([0-9A-Z]{5}-[0-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code);
}

/** A code is accepted once; the next is already valid, half a minute early (RFC 6238 §5.2). */
export const nextCode = (totp: TOTP) => totp.generate({ timestamp: Date.now() + halfMinuteMs });

/** The page with the secret, after the password. */
export async function setupPage(server: RunningServer, browser: FormBrowser): Promise<Page> {
  const begin = await browser.get(`${server.url}/account/security/second-factor`);
  return browser.submit(formOf(begin, '/second-factor/begin'), { current_password: password });
}

/** Creates a user with a second factor. */
export async function protectedPerson(server: RunningServer) {
  const email = await person(server);
  const browser = new FormBrowser(server);
  await afterPassword(server, email, browser);
  const setup = await setupPage(server, browser);
  const totp = authenticator(setup);
  const shown = await browser.submit(formOf(setup, '/second-factor'), { code: totp.generate() });
  return { email, browser, totp, codes: recoveryCodes(shown) };
}
