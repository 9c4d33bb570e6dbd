import { AuthorizationServer, memoryTokenStore, SignInRequiredError } from '@fulfilment/client/oauth';
import { ApiError, createStoreClient, listOrders, readConnectedCreator } from '@fulfilment/client/store';
import { eventually, freePort } from '@fulfilment/testing';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoUser, root, suite } from './suite/the-suite.js';
import { closeConnections, fetchFromSuite } from './suite/third-party-app.js';

const harbour = demoUser('owner@harbour.example');
const guide = readFileSync(join(root, 'docs/client.md'), 'utf8');
const redirectUri = 'https://merch-sync.example/callback';

interface Program {
  readonly output: () => string;
  /** Resolves with the exit status. */
  readonly ended: Promise<number | null>;
  stop(): void;
}

/** Runs a program of docs/client.md unchanged, with the built package. */
function runProgram(name: string, environment: Readonly<Record<string, string>>): Program {
  const code = new RegExp(`^\`\`\`ts ${name}\n([^]*?)^\`\`\``, 'm').exec(guide)?.[1];
  if (code === undefined) throw new Error(`docs/client.md has no program ${name}.`);
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: suite.ca_file, ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    ended: new Promise((resolve) => child.once('close', resolve)),
    stop: () => void child.kill(),
  };
}

describe('the client', () => {
  afterAll(() => closeConnections());

  it('places the first order and receives its webhook as docs/client.md says', async () => {
    const port = await freePort();
    const secret = 'a-long-secret-of-the-guide';
    const receiver = runProgram('receiver', { PORT: String(port), WEBHOOK_SECRET: secret });
    const url = `http://localhost:${port}`;
    const shop = runProgram('first-order', {
      SUITE_URL: suite.base_url,
      WEBHOOK_URL: url,
      WEBHOOK_SECRET: secret,
    });
    try {
      const unsigned = await eventually(() => fetch(url, { method: 'POST' }).catch(() => undefined));
      expect(unsigned.status).toBe(400);
      const [, signInUrl = ''] = await eventually(
        () => /^Open (\S+)$/m.exec(shop.output()) ?? undefined,
        15_000,
        shop.output,
      );
      const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
      const back = await signInAndConsent(browser, signInUrl, harbour);
      expect(await (await fetch(back.url)).text()).toBe('You can close this page.');
      expect([await shop.ended, shop.output()]).toEqual([0, expect.stringMatching(/Placed ord_\w+, /)]);
      const id = /Placed (\w+)/.exec(shop.output())?.[1];
      await eventually(
        () => receiver.output().includes(`order.created ${id}`) || undefined,
        15_000,
        receiver.output,
      );
    } finally {
      shop.stop();
      receiver.stop();
    }
  });

  it('renews an expired token once for concurrent requests, until the session is revoked', async () => {
    const server = await AuthorizationServer.discover(`${suite.auth_url}/api/auth`, {
      fetch: fetchFromSuite,
    });
    const clientId = await server.register({ name: 'Merch Sync', redirectUris: [redirectUri] });
    const scopes = ['openid', 'offline_access', 'creator:read'];
    const signIn = await server.startSignIn({ clientId, redirectUri, scopes });
    const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
    const tokens = await server.finishSignIn(
      signIn,
      (await signInAndConsent(browser, signIn.url, harbour)).url,
    );
    const store = memoryTokenStore({ ...tokens, accessToken: 'expired' });
    const client = createStoreClient({
      baseUrl: `${suite.base_url}/store`,
      auth: server.session(clientId, store),
      fetch: fetchFromSuite,
    });
    const [first, second] = await Promise.all([1, 2].map(() => readConnectedCreator({ client })));
    expect(first?.data).toEqual(second?.data);
    const denied = await listOrders({ client, throwOnError: false });
    expect(denied.error).toBeInstanceOf(ApiError);
    expect(denied.error).toMatchObject({ code: 'FORBIDDEN', requestId: expect.any(String) });

    const renewed = await store.load();
    expect(renewed?.refreshToken).not.toBe(tokens.refreshToken);
    await server.revoke(clientId, renewed?.refreshToken ?? '');
    await expect(
      eventually(() => readConnectedCreator({ client }).then(() => undefined)), // revoked within a second
    ).rejects.toThrow(SignInRequiredError);
  });
});
