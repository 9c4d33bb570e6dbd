import type { Notice } from '../pages/account/account.page.js';

const texts: ReadonlyMap<unknown, string> = new Map([
  ['name', 'Your name has been changed.'],
  ['disconnected', 'The app has been disconnected and no longer has access.'],
  ['signed-out', 'Signed out of that browser.'],
  ['signed-out-others', 'Signed out of all other browsers.'],
  [
    'password',
    'Your password has been changed. You are signed out of all other browsers and of our own apps.',
  ],
  [
    'password-and-apps',
    'Your password has been changed. You are signed out of all other browsers and of our own apps, and all other apps are disconnected.',
  ],
  ['factor-off', 'The second factor is turned off.'],
]);

/**
 * Returns the notice about a completed form.
 * @param done query parameter `done` of the redirect after the form
 */
export function doneNotice(done: unknown): Notice | undefined {
  const text = texts.get(done);
  return text === undefined ? undefined : { text };
}
