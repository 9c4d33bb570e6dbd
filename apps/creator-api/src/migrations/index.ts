import { Baseline } from './0001-baseline.js';
import { LedgerLines } from './0002-ledger-lines.js';
import { SelectedCreator } from './0003-selected-creator.js';
import { Apps } from './0004-apps.js';
import { Statements } from './0005-statements.js';
import { TestCreators } from './0006-test-creators.js';
import { OrderFeed } from './0007-order-feed.js';
import { RequestRoles } from './0008-request-roles.js';
import { DueUploads } from './0009-due-uploads.js';

/** In the order in which they are applied. */
export const migrations = [
  Baseline,
  LedgerLines,
  SelectedCreator,
  Apps,
  Statements,
  TestCreators,
  OrderFeed,
  RequestRoles,
  DueUploads,
];
