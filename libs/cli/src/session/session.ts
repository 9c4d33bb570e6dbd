import {
  AuthorizationServer,
  Session,
  SignInRequiredError,
  type Tokens,
  type TokenStore,
} from '@fulfilment/client/oauth';
import { loopbackRedirectUri, signIn } from '@fulfilment/client/sign-in';
import { type Client, createStoreClient } from '@fulfilment/client/store';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { PrivateFiles } from './private-files.js';

const scopes = [
  'openid',
  'offline_access',
  'creator:read',
  'releases:read',
  'shipping:read',
  'orders:read',
  'orders:create',
  'orders:cancel',
  'webhooks:read',
  'webhooks:create',
  'webhooks:update',
  'webhooks:delete',
];

const sessionFile = 'session.json';
const savedSchema = z.object({
  clientId: z.string(),
  tokens: z
    .object({
      accessToken: z.string(),
      expiresAtMs: z.number().optional(),
      refreshToken: z.string().optional(),
    })
    .optional(),
});

/** A suite, and the files that the CLI keeps for it. */
export interface Suite {
  /** URL without a slash at the end. */
  readonly url: string;
  readonly files: PrivateFiles;
}

/**
 * Opens the files of a suite: a directory in `FULFILMENT_CONFIG_DIR`, by default
 * `$XDG_CONFIG_HOME/fulfilment`, else `~/.config/fulfilment`.
 */
export function openSuite(url: string, environment: Readonly<Record<string, string | undefined>>): Suite {
  const { origin, host, pathname } = new URL(url);
  const config = environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  const dir = environment['FULFILMENT_CONFIG_DIR'] || join(config, 'fulfilment');
  const path = pathname.replace(/\/+$/, '');
  const name = `${host}${path}`.replaceAll(/[^A-Za-z0-9.-]/g, '_');
  return { url: origin + path, files: new PrivateFiles(join(dir, name)) };
}

/**
 * Signs a person in with the browser. Reuses the registered app, which owns webhook subscriptions, while the
 * suite knows it.
 */
export async function login(
  { url, files }: Suite,
  open: (url: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const server = await discover(url);
  const savedId = readSaved(files)?.clientId;
  const isKnown = savedId !== undefined && (await server.isRegistered(savedId));
  const clientId = isKnown ? savedId : await registerApp(server, files);
  const tokens = await signIn(server, { clientId, scopes, open, signal });
  await files.exclusively(sessionFile, () => save(files, clientId, tokens));
}

async function registerApp(server: AuthorizationServer, files: PrivateFiles): Promise<string> {
  const app = { name: 'Fulfilment CLI', redirectUris: [loopbackRedirectUri] };
  const clientId = await server.register(app);
  // Before the sign-in, which may fail: the next login uses the same app.
  await files.exclusively(sessionFile, () => save(files, clientId));
  return clientId;
}

/** Ends the session and keeps the registered app for the next login. Returns whether there was a session. */
export async function logout({ url, files }: Suite): Promise<boolean> {
  return files.exclusively(sessionFile, async () => {
    const saved = readSaved(files);
    if (saved?.tokens === undefined) return false;
    const { refreshToken, accessToken } = saved.tokens;
    const server = await discover(url);
    if (await server.isRegistered(saved.clientId))
      await server.revoke(saved.clientId, refreshToken ?? accessToken);
    save(files, saved.clientId);
    return true;
  });
}

/** Returns a client of the Store API. @param token used instead of the saved session */
export function openStore({ url, files }: Suite, token: string | undefined): Client {
  return createStoreClient({ baseUrl: `${url}/store`, auth: token ?? savedSession(url, files) });
}

/**
 * Returns the session that `login` has saved. A refresh token can be used only once, so one of several
 * concurrent commands renews the session for all.
 */
export function savedSession(url: string, files: PrivateFiles): Session {
  const store: TokenStore = {
    load: () => Promise.resolve(readSaved(files)?.tokens),
    // `refresh` has already saved the tokens, under the lock. A save without it could replace newer ones.
    save: () => Promise.resolve(),
  };
  const refresh = (refreshToken: string) =>
    files.exclusively(sessionFile, async () => {
      const saved = readSaved(files);
      if (saved?.tokens === undefined) throw new SignInRequiredError('There is no session.');
      if (saved.tokens.refreshToken !== refreshToken) return saved.tokens; // another process renewed it
      const renewed = await (await discover(url)).refresh(saved.clientId, refreshToken);
      const tokens = { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken };
      save(files, saved.clientId, tokens);
      return tokens;
    });
  return new Session({ store, refresh });
}

function discover(url: string): Promise<AuthorizationServer> {
  return AuthorizationServer.discover(`${url}/api/auth`);
}

/** Returns undefined without a file, or if it is damaged: the next login replaces it. */
function readSaved(files: PrivateFiles): z.output<typeof savedSchema> | undefined {
  try {
    return savedSchema.safeParse(JSON.parse(files.read(sessionFile) ?? '')).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Replaces the file. Without tokens, there is no session. Call it under the lock of the file. */
function save(files: PrivateFiles, clientId: string, tokens?: Tokens): void {
  files.write(sessionFile, JSON.stringify({ clientId, tokens }));
}
