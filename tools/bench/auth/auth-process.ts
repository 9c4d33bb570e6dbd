import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { authorizationCodeFlow } from '../../demo/authorization.ts';
import { type BenchContext, unlimited } from '../bench-context.ts';
import { ServiceProcess } from '../service-process.ts';
import type { TokenServer } from './token-callers.ts';

const person = { email: 'owner@bench.example', password: 'a password for a benchmark' };
const redirectUri = 'https://app.example/callback';
const paths = { token: '/api/auth/oauth2/token', introspection: '/api/auth/oauth2/introspect' };
const createdClient = z.object({ client_id: z.string(), client_secret: z.string().optional() });

export function createAuthProcess(context: BenchContext, name: string): Promise<ServiceProcess> {
  return ServiceProcess.create(context, 'auth-server', name, (origin) => ({
    REDIS_URL: `${context.stores.redis}?keyPrefix=${name}:`,
    BASE_URL: origin,
    AUTH_URL: origin,
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    COOKIE_KEYS: randomBytes(32).toString('hex'),
    RATE_LIMIT_TOKEN: unlimited,
    RATE_LIMIT_AUTHORIZATION: unlimited,
  }));
}

/** Creates a user, an app and a resource server, and signs the user in to the app once for each caller. */
export async function signInForEachCaller(auth: ServiceProcess, callerCount: number): Promise<TokenServer> {
  const operate = async (command: string, ...argsWithSpaces: string[]): Promise<unknown> =>
    JSON.parse(await auth.run('cli.js', [...command.split(' '), ...argsWithSpaces]));
  const { email, password } = person;
  await operate('organisation create --id org_bench --name Bench');
  await operate('creator create --organisation org_bench --name Bench --payment-method pm_ok');
  await operate(`user create --organisation org_bench --role owner --email ${email}`, '--password', password);
  const { client_id: clientId } = createdClient.parse(
    await operate(`client create --first-party --name App --redirect-uri ${redirectUri}`),
  );
  const resourceServer = createdClient
    .required()
    .parse(await operate('client create --resource-server --name Resources'));
  const scopes = ['openid', 'offline_access'];
  const refreshTokens: string[] = [];
  const ca = undefined; // the process has no TLS
  for (let caller = 0; caller < callerCount; caller += 1) {
    const request = { clientId, redirectUri, scopes, ...person };
    const { refreshToken = '' } = await authorizationCodeFlow(auth.origin, ca, request);
    refreshTokens.push(refreshToken);
  }
  return { origin: auth.origin, paths, clientId, resourceServer, refreshTokens };
}
