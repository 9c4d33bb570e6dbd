import { Injectable } from '@nestjs/common';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { BackgroundTask, BackgroundLoop } from '@fulfilment/runtime';
import type Provider from 'oidc-provider';
import { SigningKeys } from '../keys/signing-keys.js';
import type { StoredRows } from '../tokens/stored-rows.js';
import { buildProvider, ProviderDependencies } from './provider.js';

type Handle = ReturnType<Provider['callback']>;

interface BuiltProvider {
  readonly provider: Provider;
  readonly handle: Handle;
  readonly version: string;
}

const pollIntervalMs = 250; // a rotation takes effect almost immediately

/**
 * Builds the provider for the current keys, and replaces it when they change. Requests in progress finish on
 * the old one.
 */
@Injectable()
export class OidcServer extends BackgroundTask {
  private built: BuiltProvider | undefined;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly keys: SigningKeys,
    private readonly dependencies: ProviderDependencies,
  ) {
    super();
    this.loop = new BackgroundLoop({
      name: 'signing-keys',
      intervalMs: pollIntervalMs,
      logger: dependencies.logger,
      round: async () => {
        await this.refresh();
        return false;
      },
    });
  }

  /**
   * Creates the keys at the first start, then polls for changes, also those of other replicas and operators.
   */
  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  get ready(): boolean {
    return this.built !== undefined;
  }

  get provider(): Provider {
    return this.current().provider;
  }

  /** Handles a request. Composed once, since `callback()` composes about forty middleware functions. */
  get handle(): Handle {
    return this.current().handle;
  }

  get stored(): StoredRows {
    return this.dependencies.stored;
  }

  async refresh(): Promise<void> {
    if (this.built === undefined) await this.keys.ensure();
    if ((await this.keys.version()) === this.built?.version) return;
    const keySet = await this.keys.load();
    const provider = buildProvider(keySet, this.dependencies);
    this.built = { provider, handle: provider.callback(), version: keySet.version };
  }

  /** @throws ServiceUnavailable until the keys are loaded */
  private current(): BuiltProvider {
    if (this.built === undefined) throw new ServiceUnavailable();
    return this.built;
  }
}
