import { Module } from '@nestjs/common';
import { ChargeCircuit } from './charge-circuit.js';
import { ChargeOrder } from './charge-order.js';
import { DailyReconciliation } from './daily-reconciliation.js';
import { PaymentMethods } from './payment-methods.js';
import { RefundCharges } from './refund-charges.js';

@Module({
  providers: [ChargeCircuit, ChargeOrder, DailyReconciliation, PaymentMethods, RefundCharges],
  exports: [ChargeCircuit, ChargeOrder, PaymentMethods],
})
export class BillingModule {}
