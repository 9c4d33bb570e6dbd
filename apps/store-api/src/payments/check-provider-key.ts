import { BackgroundTask, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { PaymentGateway } from './payment-gateway.js';

/** Checks at start whether the payment provider accepts our key. */
@Injectable()
export class CheckProviderKey extends BackgroundTask {
  constructor(
    private readonly gateway: PaymentGateway,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  /** Does not wait: while the provider is away or rejects the key, orders are placed as pending. */
  start(): void {
    this.gateway.checkKey().catch((error: unknown) => {
      this.logger.error({ error }, 'The payment provider rejects our key; orders stay pending.');
    });
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
