import { storeScopes } from '@fulfilment/contracts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Failure, reasonOf } from '../dev/failure.ts';
import { readSettings } from '../dev/settings.ts';
import { readStack } from '../dev/stack-file.ts';
import { authorizationCodeFlow } from './authorization.ts';

const help = `npm run -s token: prints an access token of a demo account, got as a person with a browser would get it.

  --email E          whose (owner@harbour.example)
  --password P       needed when it is no demo account's
  --scope "S S …"    what it may do (openid and all of the Store API)
  --client C         of which app (the dashboard)
  --redirect-uri U   where that app is sent back to`;

/** Prints an access token of a demo account, got as a person with a browser would get it. For trying things by hand. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      email: { type: 'string', default: 'owner@harbour.example' },
      password: { type: 'string' },
      scope: { type: 'string', default: `openid ${Object.keys(storeScopes).join(' ')}` },
      client: { type: 'string' },
      'redirect-uri': { type: 'string' },
    },
  });
  if (values.help === true) return console.log(help);
  const stack = readStack(readSettings().stateDir);
  if (stack === undefined) throw new Failure('No suite is running. Start one with: npm start');
  const { dashboard } = stack.clients;
  const password = values.password ?? stack.users.find(({ email }) => email === values.email)?.password;
  if (password === undefined) throw new Failure(`${values.email} is no demo account: give its --password.`);
  const tokens = await authorizationCodeFlow(stack.auth_url, readFileSync(stack.ca_file, 'utf8'), {
    clientId: values.client ?? dashboard.client_id,
    redirectUri: values['redirect-uri'] ?? dashboard.redirect_uri,
    scopes: values.scope.split(' '),
    email: values.email,
    password,
  });
  console.log(tokens.access_token);
}

main().catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
