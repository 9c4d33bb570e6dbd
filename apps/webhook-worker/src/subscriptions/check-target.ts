import { ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { Injectable } from '@nestjs/common';
import { unknownEvents } from './subscription.rules.js';

/** What a subscription's wishes must satisfy beyond their shape. */
@Injectable()
export class CheckTarget {
  constructor(private readonly client: GuardedClient) {}

  /** @throws ValidationFailed with one detail for each thing that is wrong */
  async run({ events = [], url }: { events?: readonly unknown[]; url?: string }): Promise<void> {
    const urlProblem = url === undefined ? undefined : await this.client.problemWith(url);
    const wrong = unknownEvents(events);
    if (urlProblem !== undefined) wrong.push({ field: 'url', reason: urlProblem });
    if (wrong.length > 0) throw new ValidationFailed(wrong);
  }
}
