import { Injectable } from '@nestjs/common';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type Provider from 'oidc-provider';
import { SigningKeys } from '../keys/signing-keys.js';
import type { StoredRows } from '../tokens/stored-rows.js';
import { buildProvider } from './provider.js';
import { ProviderDependencies } from './provider-dependencies.js';

type Handle = ReturnType<Provider['callback']>;

interface BuiltProvider {
  readonly provider: Provider;
  readonly handle: Handle;
  /** Version of the key set. */
  readonly version: string;
}

const pollIntervalMs = 250; // a rotation takes effect almost immediately

/**
 * Creates the keys at the first start, and builds the provider for them. Replaces it when other replicas or
 * operators change the keys. Requests in progress finish on the old one.
 */
@Injectable()
export class OidcServer extends BackgroundLoop {
  private built: BuiltProvider | undefined;

  constructor(
    private readonly keys: SigningKeys,
    private readonly dependencies: ProviderDependencies,
  ) {
    super({
      name: 'signing-keys',
      intervalMs: pollIntervalMs,
      logger: dependencies.logger,
      round: () => this.rebuildIfKeysChanged(),
    });
  }

  get ready(): boolean {
    return this.built !== undefined;
  }

  get provider(): Provider {
    return this.current().provider;
  }

  /**
   * The handler of requests, built once per provider: `callback()` composes about forty middleware functions.
   */
  get handle(): Handle {
    return this.current().handle;
  }

  get storedRows(): StoredRows {
    return this.dependencies.storedRows;
  }

  get logger(): Logger {
    return this.dependencies.logger;
  }

  /** Builds the provider at the first call, and a new one whenever the keys have changed. */
  private async rebuildIfKeysChanged(): Promise<void> {
    if (this.built === undefined) await this.keys.ensureKeys();
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
