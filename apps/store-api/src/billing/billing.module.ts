import { Module } from '@nestjs/common';
import { ChargeSender } from './charge-sender.js';
import { ChargeOrder } from './charge-order.js';
import { DailyReconciliation } from './reconciliation/daily-reconciliation.js';
import { RefundCharges } from './refund-charges.js';

@Module({
  providers: [ChargeSender, ChargeOrder, DailyReconciliation, RefundCharges],
  exports: [ChargeSender, ChargeOrder],
})
export class BillingModule {}
