import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { BackgroundLoop } from '@fulfilment/runtime';
import type Provider from 'oidc-provider';
import type { SigningKeys } from '../keys/signing-keys.js';
import type { StoredRows } from '../tokens/stored-rows.js';
import { buildProvider, type ProviderDependencies } from './provider.js';

type Handle = ReturnType<Provider['callback']>;

interface Built {
  readonly provider: Provider;
  readonly handle: Handle;
  readonly version: string;
}

const lookEveryMs = 250; // a rotation takes effect at once

/** The provider of the keys as they are. When the keys change another one takes over; requests under way end on the one they began. */
export class OidcServer {
  private built: Built | undefined;
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

  get provider(): Provider {
    return this.current().provider;
  }

  /** Answers a request. Composed once: oidc-provider would put its forty steps together for each. */
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

  /** @throws ServiceUnavailable until the keys were read */
  private current(): Built {
    if (this.built === undefined) throw new ServiceUnavailable();
    return this.built;
  }
}
