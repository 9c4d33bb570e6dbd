import { Store1764000000001 } from './0001-store.js';
import { Payments1764000000002 } from './0002-payments.js';
import { HeldReports1764000000003 } from './0003-held-reports.js';
import { ListsAndSearch1764000000004 } from './0004-lists-and-search.js';
import { ProcessedTracks1764000000005 } from './0005-processed-tracks.js';
import { PaymentTries1764000000006 } from './0006-payment-tries.js';
import { ReportTimes1764000000007 } from './0007-report-times.js';
import { RefundTimes1764000000008 } from './0008-refund-times.js';
import { StockTimes1764000000009 } from './0009-stock-times.js';
import { OrdersToResume1764000000010 } from './0010-orders-to-resume.js';
import { AddressRetention1764000000013 } from './0013-address-retention.js';
import { PaymentReconciliations1764000000014 } from './0014-payment-reconciliations.js';
import { OperatorAudit1764000000017 } from './0017-operator-audit.js';
import { RefundReferences1764000000020 } from './0020-refund-references.js';
import { StripeKeys1764000000021 } from './0021-stripe-keys.js';

/** In the order they are applied. */
export const migrations = [
  Store1764000000001,
  Payments1764000000002,
  HeldReports1764000000003,
  ListsAndSearch1764000000004,
  ProcessedTracks1764000000005,
  PaymentTries1764000000006,
  ReportTimes1764000000007,
  RefundTimes1764000000008,
  StockTimes1764000000009,
  OrdersToResume1764000000010,
  AddressRetention1764000000013,
  PaymentReconciliations1764000000014,
  OperatorAudit1764000000017,
  RefundReferences1764000000020,
  StripeKeys1764000000021,
];
