import { Baseline } from './0001-baseline.js';
import { InboxByDay } from './0002-inbox-by-day.js';
import { SealedQuotes } from './0003-sealed-quotes.js';
import { ChangedOrders } from './0004-changed-orders.js';
import { OrderMetadata } from './0005-order-metadata.js';
import { DeliveryTimes } from './0006-delivery-times.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, InboxByDay, SealedQuotes, ChangedOrders, OrderMetadata, DeliveryTimes];
