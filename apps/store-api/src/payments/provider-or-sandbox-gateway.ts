import {
  type Charge,
  type ChargeOutcome,
  type OpenCharge,
  PaymentGateway,
  type ProviderPayment,
  type RefundOutcome,
  type RefundRequest,
  type TimeRange,
  type UnderWay,
} from './payment-gateway.js';

/**
 * Sends the charges of test orders to the sandbox, and all others to the provider. The lists contain only the
 * payments and refunds of the provider.
 */
export class ProviderOrSandboxGateway extends PaymentGateway {
  constructor(
    private readonly provider: PaymentGateway,
    private readonly sandbox: PaymentGateway,
  ) {
    super();
  }

  checkKey(): Promise<void> {
    return this.provider.checkKey();
  }

  charge(charge: OpenCharge, signal: AbortSignal): Promise<ChargeOutcome | UnderWay> {
    return this.gatewayOf(charge).charge(charge, signal);
  }

  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome | UnderWay> {
    return this.gatewayOf(request).refund(request, signal);
  }

  find(charge: Charge, signal: AbortSignal): Promise<ProviderPayment | undefined> {
    return this.gatewayOf(charge).find(charge, signal);
  }

  listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]> {
    return this.provider.listPayments(range, signal);
  }

  listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly string[]> {
    return this.provider.listFailedRefunds(range, signal);
  }

  private gatewayOf({ isTest }: Charge): PaymentGateway {
    return isTest ? this.sandbox : this.provider;
  }
}
