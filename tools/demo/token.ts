import { storeScopes } from '@fulfilment/contracts';
import { parseArgs } from 'node:util';
import { runMain } from '../dev/failure.ts';
import { ownerEmail } from './accounts.ts';
import { demoToken } from './demo-token.ts';
import { readRunningSuite } from '../dev/state/running-suite.ts';

const help = `npm run -s token: prints an access token of a demo account, obtained through the sign-in pages.

  --email E          the account (default: owner@harbour.example)
  --password P       the password; required unless it is a demo account
  --scope "S S …"    scopes of the token (default: openid and all scopes of the Store API)
  --client C         the client (default: the dashboard)
  --redirect-uri U   a redirect URI of that client`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      email: { type: 'string', default: ownerEmail },
      password: { type: 'string' },
      scope: { type: 'string', default: `openid ${Object.keys(storeScopes).join(' ')}` },
      client: { type: 'string' },
      'redirect-uri': { type: 'string' },
    },
  });
  const token = await demoToken(await readRunningSuite(), {
    email: values.email,
    password: values.password,
    scopes: values.scope.split(' '),
    client: values.client,
    redirectUri: values['redirect-uri'],
  });
  console.log(token);
}

runMain(main, help);
