import { FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { server } from './server.fixture.js';
import { newUser, password } from './users.fixture.js';

/** An attribute of the password field of the sign-in page, which no other page has. */
export const signInPageField = 'id="password"';

/** Creates a user. Returns the e-mail address. */
export async function newUserEmail(): Promise<string> {
  return (await newUser(server)).email;
}

/** Opens an account page in a new browser and signs in. */
export async function openAccountPage(
  email: string,
  path: string,
  typedPassword = password,
): Promise<{ readonly browser: FormBrowser; readonly shown: Page }> {
  const browser = new FormBrowser(server);
  const page = await browser.get(`${server.url}${path}`);
  const shown = await browser.submit(formOf(page, '/login'), { email, password: typedPassword });
  return { browser, shown };
}
