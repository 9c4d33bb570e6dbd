import { tokenMaker, type TokenMaker } from '@fulfilment/testing/token-maker';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { request } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { mustRun } from '../../dev/run-program.ts';
import { nodeArguments } from '../../dev/services.ts';
import { root } from '../../dev/settings.ts';
import type { BenchSite } from '../bench-site.ts';
import { freshDatabase } from '../fresh-database.ts';
import { furtherArguments, ServedProcess } from '../served-process.ts';
import { servedService, unlimited } from '../served-service.ts';
import { subscriptionSecret } from './receiver-secret.ts';

const created = z.object({ id: z.string() });

/**
 * webhook-worker as it is deployed, over a database of its own, with limits that one caller does not meet.
 */
export class WebhookProcess {
  readonly origin: string;
  /** Of its database, its exchanges and queues. */
  readonly name: string;
  readonly databaseUrl: string;
  readonly process: ServedProcess;
  private readonly tokens: TokenMaker;

  static async start(site: BenchSite, name: string): Promise<WebhookProcess> {
    const databaseUrl = await freshDatabase(site.stores.postgres, name);
    await mustRun(process.execPath, [join(root, 'apps', 'webhook-worker', 'dist', 'migrate.js')], {
      cwd: root,
      env: { DATABASE_URL: databaseUrl, PATH: process.env.PATH },
    });
    const { origin, environment } = await servedService(site, name, databaseUrl);
    const tokens = await tokenMaker();
    const served = new ServedProcess(
      [...nodeArguments, ...furtherArguments(), join(root, 'apps', 'webhook-worker', 'dist', 'main.js')],
      {
        ...environment,
        REDIS_URL: site.stores.redis, // BullMQ takes no address with a prefix; it has one of its own
        WEBHOOK_QUEUE_PREFIX: name,
        BASE_URL: tokens.baseUrl,
        AUTH_URL: tokens.authUrl,
        JWKS_URL: tokens.jwksUrl,
        CURSOR_SECRET: randomBytes(32).toString('hex'),
        SECRET_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        ALLOW_LOOPBACK_TARGETS: 'true',
        RATE_LIMIT_DEFAULT: unlimited,
      },
    );
    return new WebhookProcess(origin, name, databaseUrl, served, tokens);
  }

  private constructor(
    origin: string,
    name: string,
    databaseUrl: string,
    served: ServedProcess,
    tokens: TokenMaker,
  ) {
    this.origin = origin;
    this.name = name;
    this.databaseUrl = databaseUrl;
    this.process = served;
    this.tokens = tokens;
  }

  /** @returns seconds from the start of the process until it was ready */
  ready(): Promise<number> {
    return this.process.ready(`${this.origin}/health/ready`);
  }

  /** Subscribes a creator to order.created. @returns the subscription's public id */
  async subscribe(creatorId: string, receiver: string, path: string): Promise<string> {
    const token = await this.tokens.token({ creator_id: creatorId, scope: 'webhooks:create' });
    const answer = await request(`${this.origin}/store/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        url: `${receiver}${path}`,
        events: ['order.created'],
        secret: subscriptionSecret(path),
      }),
    });
    const json = await answer.body.json();
    if (answer.statusCode !== 201)
      throw new Failure(`Subscribing gave ${answer.statusCode}: ${JSON.stringify(json)}`);
    return created.parse(json).id;
  }

  /** Sends a request of a creator about its webhooks, and returns the status. */
  async call(token: string, method: 'GET' | 'POST', path: string, body?: object): Promise<number> {
    const answer = await request(`${this.origin}/store/v1/webhooks/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.body.dump();
    return answer.statusCode;
  }

  token(creatorId: string): Promise<string> {
    return this.tokens.token({ creator_id: creatorId, scope: 'webhooks:read webhooks:update' });
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await this.tokens.stop();
  }
}
