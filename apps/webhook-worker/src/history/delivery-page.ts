import { maxUuid, parsePublicId } from '@fulfilment/contracts';
import { type Statement, statement } from '@fulfilment/database';
import type { CursorKey } from '@fulfilment/http-service';
import { deliveryIdSql } from '../delivery/delivery-id.js';
import { deliveryStatuses } from '../delivery/delivery-state.js';
import { eventUuid } from '../delivery/event-public-id.js';
import type { ListDeliveriesDto } from './delivery.dto.js';
import { deliveryColumns } from './delivery.view.js';

/** Filters of a page of the delivery history. Undefined means any. */
export type DeliveryFilters = Omit<ListDeliveriesDto, 'cursor' | 'limit'>;

export interface PageQuery {
  readonly statement: Statement;
  readonly values: Readonly<Record<string, unknown>>;
}

const dayMs = 86_400_000;
/** Start of the last day whose year has four digits, as `YYYY-MM-DD` requires. */
const lastDayMs = Date.parse('9999-12-31T00:00:00Z');
const newestFirst = 'ORDER BY d.created_at DESC, d.id DESC LIMIT :limit';
// The last condition keeps PostgreSQL from opening partitions without matches: a delivery is created after
// its event, so it is in no partition after `latest_day`. Days after tomorrow are searched nevertheless,
// since their events come from a wrong clock. There is no earliest day: a delivery may be created much later.
const inSpan = `d.subscription_id = :subscription_id
  AND d.created_at > coalesce(:created_after::timestamptz, '-infinity')
  AND d.created_at < coalesce(:created_before::timestamptz, 'infinity')
  AND (d.created_at, d.id) < (coalesce('epoch'::timestamptz + :after_micros::bigint * interval '1 microsecond', 'infinity'),
                              coalesce(:after_id::uuid, '${maxUuid}'))
  AND (d.day <= :latest_day::date OR d.day >= (now() AT TIME ZONE 'UTC')::date + 2)`;
const columns = `${deliveryColumns}, (extract(epoch FROM d.created_at) * 1000000)::bigint AS created_micros`;
const matchesTest = 'd.test = coalesce(:test::boolean, d.test)';
const matchesStatusAndEvent =
  'd.status = coalesce(:status, d.status) AND d.event = coalesce(:event, d.event)';

// One statement for each combination of filters with an index in list order. These indexes do not contain
// `test`, since few rows are test events.
const unfiltered = statement(
  'history.page',
  `SELECT ${columns} FROM webhook_deliveries d WHERE ${inSpan} AND ${matchesTest} ${newestFirst}`,
);
const byStatus = statement(
  'history.page-by-status',
  `SELECT ${columns} FROM webhook_deliveries d WHERE ${inSpan} AND ${matchesTest} AND d.status = :status ${newestFirst}`,
);
// The index is on event, status and time. There may be several statuses, whose newest rows are merged.
const byEvent = statement(
  'history.page-by-event',
  `SELECT ${columns} FROM unnest(:statuses::text[]) AS filter(status) CROSS JOIN LATERAL (
     SELECT * FROM webhook_deliveries d
     WHERE ${inSpan} AND ${matchesTest} AND d.event = :event AND d.status = filter.status ${newestFirst}
   ) AS d ${newestFirst}`,
);
const testsOnly = statement(
  'history.page-of-tests',
  `SELECT ${columns} FROM webhook_deliveries d
   WHERE ${inSpan} AND d.test AND ${matchesStatusAndEvent} ${newestFirst}`,
);

// Finds the events first, since an order has few. Without LIMIT 1, PostgreSQL joins them with all deliveries
// of the subscription.
const ofEvents = (name: string, condition: string): Statement =>
  statement(
    name,
    `SELECT ${columns} FROM webhook_events e CROSS JOIN LATERAL (
       SELECT * FROM webhook_deliveries d WHERE d.day = e.day AND d.id = ${deliveryIdSql('e.id', ':subscription_id::uuid')} LIMIT 1
     ) AS d
     WHERE ${condition} AND e.subject_id = ALL(:subject_ids::uuid[]) AND ${inSpan} AND ${matchesTest} AND ${matchesStatusAndEvent}
     ${newestFirst}`,
  );
const ofEvent = ofEvents('history.page-of-event', 'e.id = :event_id');
const ofSubject = ofEvents('history.page-of-subject', 'e.subject_id = :subject_id');

/**
 * Returns the statement and parameters for a page of a subscription's deliveries, newest first.
 * @param after the last delivery of the previous page
 */
export function pageQuery(
  subscriptionId: string,
  filters: DeliveryFilters,
  limit: number,
  after?: CursorKey,
): PageQuery {
  const { status, event, test, created_after: createdAfter, created_before: createdBefore } = filters;
  const eventId = filters.event_id === undefined ? undefined : eventUuid(filters.event_id);
  const subjectIds = subjectsOf(filters);
  const values = {
    subscription_id: subscriptionId,
    limit,
    created_after: createdAfter,
    created_before: createdBefore,
    after_micros: after?.micros,
    after_id: after?.id,
    latest_day: latestDay(createdBefore, after),
    test,
    status,
    statuses: status === undefined ? deliveryStatuses : [status],
    event,
    event_id: eventId,
    subject_id: subjectIds[0],
    subject_ids: subjectIds,
  };
  if (eventId !== undefined) return { statement: ofEvent, values };
  if (subjectIds.length > 0) return { statement: ofSubject, values };
  if (test === 'true') return { statement: testsOnly, values };
  if (event !== undefined) return { statement: byEvent, values };
  if (status !== undefined) return { statement: byStatus, values };
  return { statement: unfiltered, values };
}

/**
 * Returns the ids of the order and of the product that events must be about. No event is about both, so a
 * filter by both matches none.
 */
function subjectsOf({ order_id: order, product_id: product }: DeliveryFilters): string[] {
  return [
    order === undefined ? undefined : parsePublicId('ord', order),
    product === undefined ? undefined : parsePublicId('prod', product),
  ].filter((id) => id !== undefined);
}

/**
 * Returns the latest day that a delivery on the page can have: a day after the latest time at which it can
 * have been created, since clocks differ.
 */
function latestDay(createdBefore: string | undefined, after: CursorKey | undefined): string {
  const beforeMs = createdBefore === undefined ? Infinity : Date.parse(createdBefore);
  const afterMs = after === undefined ? Infinity : after.micros / 1000;
  const latestMs = Math.min(beforeMs, afterMs) + dayMs;
  return latestMs < lastDayMs ? new Date(latestMs).toISOString().slice(0, 10) : 'infinity';
}
