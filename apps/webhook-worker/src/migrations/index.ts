import { Baseline } from './0001-baseline.js';
import { MaxInFlight } from './0002-max-in-flight.js';
import { InboxByDay } from './0003-inbox-by-day.js';
import { EventSubject } from './0004-event-subject.js';

/** In the order in which they are applied. */
export const migrations = [Baseline, MaxInFlight, InboxByDay, EventSubject];
