import { Description } from '@fulfilment/api-reference';
import { IntegerParameter, TextField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

/** Shorter than the read timeout of the gateway (30 s). */
export const maxWaitSeconds = 20;
export const maxPageEvents = 100;

export class EventsQuery {
  @Description(
    'The `next` of an earlier response: returns the events after it. Without it, the feed is read from its oldest event',
  )
  @IsOptional()
  @TextField({ max: 200 })
  after?: string;

  @Description('Maximum time in seconds to wait for an event if there is none after `after`', 20)
  @IsOptional()
  @IntegerParameter(0, maxWaitSeconds)
  wait: number = 0;

  @Description('Maximum number of events', 100)
  @IsOptional()
  @IntegerParameter(1, maxPageEvents)
  limit: number = maxPageEvents;
}
