import { Baseline } from './0001-baseline.js';
import { EventFeed } from './0002-event-feed.js';
import { SigningKeyPairs } from './0003-signing-keys.js';
import { ScheduleStarts } from './0004-schedule-starts.js';

/** The migrations, in the order in which they are applied. */
export const migrations = [Baseline, EventFeed, SigningKeyPairs, ScheduleStarts];
