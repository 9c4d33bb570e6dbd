import { FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { Secret, TOTP } from 'otpauth';
import type { RunningServer } from './running-server.fixture.js';
import { newUser, password } from './users.fixture.js';

const halfMinuteMs = 30_000;

/** Opens the security page and submits the sign-in form. Returns the page that follows. */
export async function submitPassword(
  server: RunningServer,
  email: string,
  browser = new FormBrowser(server),
): Promise<Page> {
  const page = await browser.get(`${server.url}/account/security`);
  return browser.submit(formOf(page, '/login'), { email, password });
}

/** Returns an authenticator app with the secret that a page shows. */
export function authenticatorOf(page: Page): TOTP {
  const key = /<code>([A-Z2-7 ]{30,})<\/code>/.exec(page.text)?.[1] ?? '';
  return new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) });
}

export function recoveryCodesOf(page: Page): string[] {
  return [...page.text.matchAll(/<code>([0-9A-Z]{5}-[0-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code);
}

/** Returns the next code, which is valid half a minute early (RFC 6238 §5.2). Each code is accepted once. */
export const nextCode = (totp: TOTP) => totp.generate({ timestamp: Date.now() + halfMinuteMs });

/** Submits the password for a new second factor. Returns the page with its secret. */
export async function beginSetup(server: RunningServer, browser: FormBrowser): Promise<Page> {
  const begin = await browser.get(`${server.url}/account/security/second-factor`);
  return browser.submit(formOf(begin, '/second-factor/begin'), { current_password: password });
}

/** Creates a user with a second factor. `setup` is the page with its secret. */
export async function newProtectedUser(server: RunningServer) {
  const { email } = await newUser(server);
  const browser = new FormBrowser(server);
  await submitPassword(server, email, browser);
  const setup = await beginSetup(server, browser);
  const totp = authenticatorOf(setup);
  const shown = await browser.submit(formOf(setup, '/second-factor'), { code: totp.generate() });
  return { email, browser, totp, setup, codes: recoveryCodesOf(shown) };
}
