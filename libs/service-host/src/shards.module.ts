import { shardsPurpose } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Module } from '@nestjs/common';
import { DatabasePools } from './database-pools.js';
import { Shards } from './shards.js';

/** Divides the work of a service over its replicas. The locks occupy one connection. */
@Module({
  providers: [
    {
      provide: Shards,
      inject: [DatabasePools, LOGGER],
      useFactory: (pools: DatabasePools, logger: Logger) => new Shards(pools.open(shardsPurpose, 1), logger),
    },
  ],
  exports: [Shards],
})
export class ShardsModule {}
