import { Description } from '@fulfilment/api-reference';
import { IsIn } from 'class-validator';

const warehouseEvents = ['shipped', 'tracking_updated', 'delivered', 'cancelled'] as const;
export type WarehouseEvent = (typeof warehouseEvents)[number];

export class WarehouseEventDto {
  @Description('What the simulated warehouse reports about the order', 'shipped')
  @IsIn(warehouseEvents)
  event: WarehouseEvent;
}
