import { DtoPipe, ErrorEnvelopeFilter } from '@fulfilment/error-envelope';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';

/** Validates the DTOs of every route of a service, sends errors in the error envelope, and logs 5xx. */
@Module({
  providers: [
    { provide: APP_PIPE, useClass: DtoPipe },
    {
      provide: APP_FILTER,
      inject: [LOGGER],
      useFactory: (logger: Logger) =>
        new ErrorEnvelopeFilter((error) => logger.error({ error }, 'A request failed with a server error.')),
    },
  ],
})
export class HttpModule {}
