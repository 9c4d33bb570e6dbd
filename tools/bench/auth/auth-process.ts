import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { mustRun } from '../../dev/run-program.ts';
import { nodeArguments } from '../../dev/services.ts';
import { root } from '../../dev/settings.ts';
import type { BenchSite } from '../bench-site.ts';
import { freshDatabase } from '../fresh-database.ts';
import { furtherArguments, ServedProcess } from '../served-process.ts';
import { servedService, unlimited } from '../served-service.ts';
import type { TokenServer } from './token-callers.ts';

const person = { email: 'owner@bench.example', password: 'a password for a benchmark' };
const redirectUri = 'https://app.example/callback';
const paths = { token: '/api/auth/oauth2/token', introspection: '/api/auth/oauth2/introspect' };
const createdClient = z.object({ client_id: z.string(), client_secret: z.string().optional() });
const exchanged = z.object({ refresh_token: z.string() });

/**
 * auth-server as it is deployed, over a database of its own, with limits that a load from one address does
 * not meet.
 */
export class AuthProcess {
  /** For rows that the benchmark inserts or counts. */
  readonly databaseUrl: string;
  private readonly environment: Readonly<Record<string, string>>;
  private readonly origin: string;
  private process: ServedProcess | undefined;

  static async create(site: BenchSite, name: string): Promise<AuthProcess> {
    const databaseUrl = await freshDatabase(site.stores.postgres, name);
    const { origin, environment } = await servedService(site, name, databaseUrl);
    const server = new AuthProcess(origin, databaseUrl, {
      ...environment,
      BASE_URL: origin,
      AUTH_URL: origin,
      KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      COOKIE_KEYS: randomBytes(32).toString('hex'),
      RATE_LIMIT_TOKEN: unlimited,
      RATE_LIMIT_AUTHORIZATION: unlimited,
    });
    await server.program('migrate.js');
    return server;
  }

  private constructor(origin: string, databaseUrl: string, environment: Readonly<Record<string, string>>) {
    this.origin = origin;
    this.databaseUrl = databaseUrl;
    this.environment = environment;
  }

  /** @returns seconds from the start of the process until it was ready */
  async start(): Promise<number> {
    const main = join(root, 'apps', 'auth-server', 'dist', 'main.js');
    this.process = new ServedProcess([...nodeArguments, ...furtherArguments(), main], this.environment);
    return this.process.ready(`${this.origin}/health/ready`);
  }

  async stop(): Promise<void> {
    await this.process?.stop();
  }

  cpuMs(): number | undefined {
    return this.process?.cpuMs();
  }

  peakMemoryMb(): number | undefined {
    return this.process?.peakMemoryMb();
  }

  /**
   * Makes a person, an app and a resource server, and signs the person in to the app once for each caller.
   */
  async populate(callers: number): Promise<TokenServer> {
    await this.operate('organisation create --id org_bench --name Bench');
    await this.operate('creator create --organisation org_bench --name Bench --payment-method pm_ok');
    const { email, password } = person;
    await this.operate('user create --organisation org_bench --role owner', [
      '--email',
      email,
      '--password',
      password,
    ]);
    const app = createdClient.parse(
      await this.operate(`client create --first-party --name App --redirect-uri ${redirectUri}`),
    );
    const resourceServer = createdClient
      .required()
      .parse(await this.operate('client create --resource-server --name Resources'));
    const browser = new FormBrowser({ url: this.origin, fetch });
    const refreshTokens: string[] = [];
    for (let caller = 0; caller < callers; caller += 1)
      refreshTokens.push(await this.signIn(browser, app.client_id));
    return { origin: this.origin, paths, clientId: app.client_id, resourceServer, refreshTokens };
  }

  private async signIn(browser: FormBrowser, clientId: string): Promise<string> {
    const verifier = randomBytes(48).toString('base64url');
    const authorize = new URL(`${this.origin}/api/auth/oauth2/authorize`);
    authorize.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid offline_access',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString();
    const page = await signInAndConsent(browser, authorize.href, person);
    const code = page.url.searchParams.get('code');
    if (code === null) throw new Failure(`Signing in ended at ${page.url.href} with ${page.status}.`);
    const response = await fetch(`${this.origin}${paths.token}`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      }),
    });
    return exchanged.parse(await response.json()).refresh_token;
  }

  private async operate(command: string, rest: readonly string[] = []): Promise<unknown> {
    return JSON.parse(await this.program('cli.js', [...command.split(' '), ...rest, '--json']));
  }

  private program(file: string, args: readonly string[] = []): Promise<string> {
    return mustRun(process.execPath, [join(root, 'apps', 'auth-server', 'dist', file), ...args], {
      cwd: root,
      env: { ...this.environment, PATH: process.env.PATH },
    });
  }
}
