import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';
import { tokenMaker, type TokenMaker } from '@fulfilment/testing/token-maker';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { mustRun } from '../../dev/run-program.ts';
import { nodeArguments } from '../../dev/services.ts';
import { root } from '../../dev/settings.ts';
import type { BenchSite } from '../bench-site.ts';
import { freshDatabase } from '../fresh-database.ts';
import { furtherArguments, ServedProcess } from '../served-process.ts';
import { servedService, unlimited } from '../served-service.ts';
import { organisation } from './creator-data.ts';

/** An empty database, as creator-api's migrations make it. */
export async function creatorDatabase(site: BenchSite, name: string): Promise<string> {
  const databaseUrl = await freshDatabase(site.stores.postgres, name);
  await mustRun(process.execPath, [join(root, 'apps', 'creator-api', 'dist', 'migrate.js')], {
    cwd: root,
    env: { DATABASE_URL: databaseUrl, PATH: process.env.PATH },
  });
  return databaseUrl;
}

/** creator-api as it is deployed, over a database of its own, with limits that one caller does not meet. */
export class CreatorProcess {
  readonly origin: string;
  readonly databaseUrl: string;
  readonly process: ServedProcess;
  private readonly tokens: TokenMaker;

  /** @param name of its database, and of its exchanges and queues */
  static async start(site: BenchSite, name: string): Promise<CreatorProcess> {
    const databaseUrl = await creatorDatabase(site, name);
    const { origin, environment } = await servedService(site, name, databaseUrl);
    const tokens = await tokenMaker();
    const process = new ServedProcess(
      [...nodeArguments, ...furtherArguments(), join(root, 'apps', 'creator-api', 'dist', 'main.js')],
      {
        ...environment,
        REDIS_URL: site.stores.redis, // its own alone: BullMQ takes no address with a prefix
        BASE_URL: tokens.baseUrl,
        AUTH_URL: tokens.authUrl,
        JWKS_URL: tokens.jwksUrl,
        CURSOR_SECRET: randomBytes(32).toString('hex'),
        RATE_LIMIT_DEFAULT: unlimited,
        RATE_LIMIT_STATS: unlimited,
      },
    );
    return new CreatorProcess(origin, databaseUrl, process, tokens);
  }

  private constructor(origin: string, databaseUrl: string, process: ServedProcess, tokens: TokenMaker) {
    this.origin = origin;
    this.databaseUrl = databaseUrl;
    this.process = process;
    this.tokens = tokens;
  }

  /** @returns seconds from the start of the process until it was ready */
  ready(): Promise<number> {
    return this.process.ready(`${this.origin}/health/ready`);
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await this.tokens.stop();
  }

  /** An access token of the bench’s organisation, of the longest lifetime that an API accepts. */
  token(): Promise<string> {
    return this.tokens.token({
      org_id: organisation,
      org_role: 'owner',
      exp: Math.floor(Date.now() / 1000) + accessTokenLifetimeSeconds,
    });
  }
}
