import { Webhooks1764000000001 } from './0001-webhooks.js';
import { RetriesByHand1764000000002 } from './0002-retries-by-hand.js';
import { MovesInBatches1764000000003 } from './0003-moves-in-batches.js';
import { OwnersTold1764000000004 } from './0004-owners-told.js';
import { KeysByDayLast1764000000005 } from './0005-keys-by-day-last.js';
import { SendsByHand1764000000006 } from './0006-sends-by-hand.js';
import { WholeMilliseconds1764000000007 } from './0007-whole-milliseconds.js';
import { EndedAccess1764000000008 } from './0008-ended-access.js';
import { RecoveriesHaveAQuota1764000000009 } from './0009-recoveries-have-a-quota.js';
import { BulkUpdatesByDueTime1764000000010 } from './0010-bulk-updates-by-due-time.js';
import { HistoryByFilters1764000000011 } from './0011-history-by-filters.js';
import { AccessEndsInBatches1764000000012 } from './0012-access-ends-in-batches.js';
import { OperatorAudit1764000000014 } from './0014-operator-audit.js';
import { SubscriptionKeys1764000000019 } from './0019-subscription-keys.js';

/** In the order they are applied. */
export const migrations = [
  Webhooks1764000000001,
  RetriesByHand1764000000002,
  MovesInBatches1764000000003,
  OwnersTold1764000000004,
  KeysByDayLast1764000000005,
  SendsByHand1764000000006,
  WholeMilliseconds1764000000007,
  EndedAccess1764000000008,
  RecoveriesHaveAQuota1764000000009,
  BulkUpdatesByDueTime1764000000010,
  HistoryByFilters1764000000011,
  AccessEndsInBatches1764000000012,
  OperatorAudit1764000000014,
  SubscriptionKeys1764000000019,
];
