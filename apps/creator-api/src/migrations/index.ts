import { Baseline } from './0001-baseline.js';
import { InboxByDay } from './0002-inbox-by-day.js';
import { MonthlyBreakdown } from './0003-monthly-breakdown.js';
import { OrderEvents } from './0004-order-events.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, InboxByDay, MonthlyBreakdown, OrderEvents];
