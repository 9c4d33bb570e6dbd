import { audiences, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../../config.js';
import { Visibility } from '../../visibility/visibility.js';
import type { RecordedEvent } from './record-order-events.js';
import {
  maxReportedEvents,
  type TimelineEntry,
  timelineEvents,
  type TimelineView,
} from './timeline.shapes.js';

const readDates = statement(
  'timeline.dates',
  'SELECT placed_at, charged_at, refunded_at FROM orders WHERE id = $1',
);
const readEvents = statement(
  'timeline.events',
  `SELECT occurred_at, type, reason, tracking FROM order_events WHERE order_id = $1
   ORDER BY occurred_at DESC, message_id DESC LIMIT ${maxReportedEvents}`,
);

interface OrderDates {
  readonly placed_at: Date;
  readonly charged_at: Date | null;
  readonly refunded_at: Date | null;
}

interface EventRow {
  readonly occurred_at: Date;
  readonly type: RecordedEvent;
  readonly reason: string | null;
  readonly tracking: TimelineEntry['tracking'];
}

/** Returns the events of an order, and the URL of its webhook deliveries at webhook-worker (ADR 71). */
@Injectable()
export class ReadTimeline {
  constructor(
    private readonly visibility: Visibility,
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
  ) {}

  /** @throws NotFound when the order is not visible to the caller */
  run(caller: Caller, orderId: string): Promise<TimelineView> {
    return this.visibility.snapshot(caller, async (tx) => {
      const dates = (await tx.row<OrderDates>(readDates, [orderId])) ?? throwNotFound('order');
      const events = await tx.rows<EventRow>(readEvents, [orderId]);
      const storeApi = audiences(this.config.BASE_URL).store;
      return {
        data: timeline(dates, events),
        webhook_deliveries_url: `${storeApi}/v1/webhook-deliveries?order_id=${publicId('ord', orderId)}`,
      };
    });
  }
}

/** Sorts the events by time, and those with the same time in the order of `timelineEvents`. */
function timeline(dates: OrderDates, events: readonly EventRow[]): TimelineEntry[] {
  const entries = [
    ...dateEntry('placed', dates.placed_at),
    ...dateEntry('paid', dates.charged_at),
    ...dateEntry('refunded', dates.refunded_at),
    ...events.map(({ occurred_at, type, reason, tracking }) => ({
      at: occurred_at.toISOString(),
      event: type,
      reason,
      tracking: tracking && {
        carrier: tracking.carrier,
        tracking_number: tracking.tracking_number,
        tracking_url: tracking.tracking_url,
      },
    })),
  ];
  return entries.sort(
    (one, other) =>
      one.at.localeCompare(other.at) ||
      timelineEvents.indexOf(one.event) - timelineEvents.indexOf(other.event),
  );
}

/** Returns no entry for a time that is not known. */
function dateEntry(event: 'placed' | 'paid' | 'refunded', at: Date | null): TimelineEntry[] {
  return at === null ? [] : [{ at: at.toISOString(), event, reason: null, tracking: null }];
}
