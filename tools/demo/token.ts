import { storeScopes } from '@fulfilment/contracts';
import { parseArgs } from 'node:util';
import { reasonOf } from '../dev/failure.ts';
import { demoToken, runningStack } from './demo-token.ts';

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
  const token = await demoToken(runningStack(), {
    email: values.email,
    password: values.password,
    scopes: values.scope.split(' '),
    client: values.client,
    redirectUri: values['redirect-uri'],
  });
  console.log(token);
}

main().catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
