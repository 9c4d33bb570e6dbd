import type { Database } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { CreatorsController } from './creators/creators.controller.js';
import { ListCreators } from './creators/list-creators.js';
import { ListOrders } from './orders/list-orders.js';
import { OrdersController } from './orders/orders.controller.js';
import { ReadOrder } from './orders/read-order.js';
import { CreateRelease } from './releases/create-release.js';
import { ReleasesController } from './releases/releases.controller.js';
import { ReadStatistics } from './statistics/read-statistics.js';
import { StatisticsController } from './statistics/statistics.controller.js';
import { Visibility } from './visibility/visibility.js';

export interface CreatorApiParts {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** What answers requests. The database itself is no provider: requests reach it through Visibility only. */
@Module({})
export class CreatorApiModule {
  static with({ database, outbox, clock }: CreatorApiParts): DynamicModule {
    return {
      module: CreatorApiModule,
      controllers: [CreatorsController, OrdersController, StatisticsController, ReleasesController],
      providers: [
        { provide: Visibility, useValue: new Visibility(database) },
        { provide: Outbox, useValue: outbox },
        { provide: CLOCK, useValue: clock },
        ListCreators,
        ListOrders,
        ReadOrder,
        ReadStatistics,
        CreateRelease,
      ],
    };
  }
}
