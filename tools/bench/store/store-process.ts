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
import { Shop, type ShopData } from './shop-data.ts';

/** An empty store's database, as store-api's migrations make it. */
export async function storeDatabase(site: BenchSite, name: string): Promise<string> {
  const databaseUrl = await freshDatabase(site.stores.postgres, name);
  await mustRun(process.execPath, [join(root, 'apps', 'store-api', 'dist', 'migrate.js')], {
    cwd: root,
    env: { DATABASE_URL: databaseUrl, PATH: process.env.PATH },
  });
  return databaseUrl;
}

/**
 * store-api as it is deployed, over a database of its own, with the sandbox's payments and limits that one
 * caller does not meet.
 */
export class StoreProcess {
  readonly origin: string;
  readonly data: ShopData;
  readonly shop: Shop;
  private readonly tokens: TokenMaker;
  private readonly environment: Readonly<Record<string, string>>;
  private process: ServedProcess | undefined;

  static async create(site: BenchSite, name: string): Promise<StoreProcess> {
    const databaseUrl = await storeDatabase(site, name);
    const { origin, environment } = await servedService(site, name, databaseUrl);
    const tokens = await tokenMaker();
    const shop = await Shop.open(databaseUrl);
    return new StoreProcess(origin, shop, await shop.furnish(), tokens, {
      ...environment,
      BASE_URL: tokens.baseUrl,
      AUTH_URL: tokens.authUrl,
      JWKS_URL: tokens.jwksUrl,
      PAYMENT_PROVIDER: 'sandbox',
      CURSOR_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: unlimited,
      RATE_LIMIT_ORDERS_CREATE: unlimited,
    });
  }

  private constructor(
    origin: string,
    shop: Shop,
    data: ShopData,
    tokens: TokenMaker,
    environment: Readonly<Record<string, string>>,
  ) {
    this.origin = origin;
    this.shop = shop;
    this.data = data;
    this.tokens = tokens;
    this.environment = environment;
  }

  /** @returns seconds from the start of the process until it was ready */
  start(): Promise<number> {
    const main = join(root, 'apps', 'store-api', 'dist', 'main.js');
    this.process = new ServedProcess([...nodeArguments, ...furtherArguments(), main], this.environment);
    return this.process.ready(`${this.origin}/health/ready`);
  }

  async stop(): Promise<void> {
    await this.process?.stop();
    await this.shop.close();
    await this.tokens.stop();
  }

  /** An access token of a creator that lasts as long as any measurement. */
  token(creatorId: string): Promise<string> {
    const scope = 'orders:read orders:create releases:read';
    return this.tokens.token({
      creator_id: creatorId,
      scope,
      exp: Math.floor(Date.now() / 1000) + accessTokenLifetimeSeconds,
    });
  }

  cpuMs(): number | undefined {
    return this.process?.cpuMs();
  }

  peakMemoryMb(): number | undefined {
    return this.process?.peakMemoryMb();
  }
}
