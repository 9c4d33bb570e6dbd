import { commandFor } from '../settings.ts';
import type { Stack } from '../state/stack-file.ts';

/** Returns the lines that `npm start` prints when the suite is ready: addresses, accounts, next steps. */
export function summary(
  stack: Stack,
  options: { stateDir: string; elapsed?: string; isForeground: boolean },
): string[] {
  const emailWidth = Math.max(...stack.users.map(({ email }) => email.length), 0);
  const passwordWidth = Math.max(...stack.users.map(({ password }) => password.length), 0);
  return [
    '',
    `The suite is ready${options.elapsed === undefined ? '' : ` (${options.elapsed})`}.`,
    '',
    `  Gateway        ${stack.base_url}`,
    `  Documentation  ${stack.base_url}/docs/`,
    `  Account        ${stack.auth_url}/account`,
    `  OAuth metadata ${stack.auth_url}/.well-known/openid-configuration`,
    `  CA to trust    ${stack.ca_file}`,
    '',
    '  Accounts',
    ...stack.users.map(
      ({ email, password, org_role, creators }) =>
        `    ${email.padEnd(emailWidth)}  ${password.padEnd(passwordWidth)}  ${org_role ?? 'no organisation'}${creators.map(({ name }) => ` · ${name}`).join('')}`,
    ),
    '',
    `  Next           ${commandFor(options.stateDir, 'npm run demo')}`,
    `  Stop           ${options.isForeground ? 'Ctrl-C' : commandFor(options.stateDir, 'npm stop')}`,
    '',
  ];
}
