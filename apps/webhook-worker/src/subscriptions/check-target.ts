import { ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { FailureThrottle } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { Owner } from './owner.js';
import { unknownEvents } from './subscription.rules.js';

/** URLs whose name resolves to a private address, per owner and replica. */
const privateNameQuota = { requests: 20, windowSeconds: 60 };

/** What a subscription must satisfy beyond its shape. */
@Injectable()
export class CheckTarget {
  private readonly privateNames = new FailureThrottle(privateNameQuota);

  constructor(private readonly client: GuardedClient) {}

  /** Asks no name server. @throws ValidationFailed with one detail for each thing that is wrong */
  checkShape({ events = [], url }: { events?: readonly unknown[]; url?: string }): void {
    const wrong = unknownEvents(events);
    const urlProblem = url === undefined ? undefined : this.client.shapeProblem(url);
    if (urlProblem !== undefined) wrong.push({ field: 'url', reason: urlProblem });
    if (wrong.length > 0) throw new ValidationFailed(wrong);
  }

  /**
   * Asks what the name resolves to. Comes after everything else that may reject the request: the response tells which names
   * of our network are private.
   * @throws ValidationFailed, RateLimited when the owner named too many private names
   */
  async checkName({ creatorId, clientId }: Owner, url: string): Promise<void> {
    const who = `${clientId}:${creatorId}`;
    this.privateNames.check(who);
    const reason = await this.client.problemWith(url);
    if (reason === undefined) return;
    this.privateNames.add(who);
    throw new ValidationFailed([{ field: 'url', reason }]);
  }
}
