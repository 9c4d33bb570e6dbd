import { CreatorsAndOrders1763600000001 } from './0001-creators-and-orders.js';
import { Statistics1763600000002 } from './0002-statistics.js';
import { Editions1763600000003 } from './0003-editions.js';
import { TrackUploads1763600000004 } from './0004-track-uploads.js';
import { ClosedMonths1764000000005 } from './0005-closed-months.js';
import { WaitingGroups1764000000006 } from './0006-waiting-groups.js';
import { CountedCreators1764000000007 } from './0007-counted-creators.js';
import { OldUploads1764000000008 } from './0008-old-uploads.js';
import { ReleaseKeys1764000000009 } from './0009-release-keys.js';
import { OperatorAudit1764000000010 } from './0010-operator-audit.js';

export const migrations = [
  CreatorsAndOrders1763600000001,
  Statistics1763600000002,
  Editions1763600000003,
  TrackUploads1763600000004,
  ClosedMonths1764000000005,
  WaitingGroups1764000000006,
  CountedCreators1764000000007,
  OldUploads1764000000008,
  ReleaseKeys1764000000009,
  OperatorAudit1764000000010,
] as const;
