import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { BackgroundLoop } from '@fulfilment/runtime';
import type Provider from 'oidc-provider';
import type { SigningKeys } from '../keys/signing-keys.js';
import { buildProvider, type ProviderDependencies } from './provider.js';
import type { StoredRows } from './stored-rows.js';

const lookEveryMs = 250; // a rotation takes effect at once

/** The provider of the keys as they are. When the keys change another one takes over; requests under way end on the one they began. */
export class OidcServer {
  private built: { readonly provider: Provider; readonly version: string } | undefined;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly keys: SigningKeys,
    private readonly dependencies: ProviderDependencies,
  ) {
    this.loop = new BackgroundLoop({
      name: 'signing-keys',
      intervalMs: lookEveryMs,
      logger: dependencies.logger,
      round: async () => {
        await this.refresh();
        return false;
      },
    });
  }

  /** Makes the keys at the first start, then follows every change of them, whoever makes it. */
  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  get ready(): boolean {
    return this.built !== undefined;
  }

  /** @throws ServiceUnavailable until the keys were read */
  get provider(): Provider {
    if (this.built === undefined) throw new ServiceUnavailable();
    return this.built.provider;
  }

  get stored(): StoredRows {
    return this.dependencies.stored;
  }

  async refresh(): Promise<void> {
    if (this.built === undefined) await this.keys.ensure();
    if ((await this.keys.version()) === this.built?.version) return;
    const keySet = await this.keys.load();
    this.built = { provider: buildProvider(keySet, this.dependencies), version: keySet.version };
  }
}
