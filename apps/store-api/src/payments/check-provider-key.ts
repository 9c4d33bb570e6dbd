import { BackgroundTask, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { PaymentGateway, PaymentProviderError } from './payment-gateway.js';

/** Checks at start whether the payment provider accepts our key. */
@Injectable()
export class CheckProviderKey extends BackgroundTask {
  constructor(
    private readonly gateway: PaymentGateway,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  /** Does not wait: while the provider does not respond or rejects the key, orders are placed as pending. */
  start(): void {
    this.gateway.checkKey().catch((error: unknown) => {
      if (error instanceof PaymentProviderError && error.failure === 'rejected')
        this.logger.error({ error }, 'The payment provider rejects our key; orders stay pending.');
      else
        this.logger.warn(
          { error },
          'The key could not be checked at the payment provider; the next charge will check it.',
        );
    });
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
