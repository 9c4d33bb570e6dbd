import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { DtoPipe } from './dto/dto.pipe.js';
import { ErrorEnvelopeFilter } from './responses/error-envelope.filter.js';

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
