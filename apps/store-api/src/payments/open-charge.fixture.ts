import { uuidv7 } from '@fulfilment/contracts';
import type { OpenCharge } from './payment-gateway.js';

/** Longer than the pauses of a busy machine: no test waits for it. */
export const timeoutMs = 60_000;

/** Returns a charge that may have been sent before. */
export const newCharge = (members: Partial<OpenCharge> = {}): OpenCharge => ({
  id: uuidv7(),
  orderId: uuidv7(),
  amount: { amount: 2999, currency: 'GBP' },
  paymentMethod: 'pm_card_visa',
  reference: null,
  createdAt: new Date(),
  isFirstRequest: false,
  isTest: false,
  ...members,
});
