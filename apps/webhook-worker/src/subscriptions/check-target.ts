import { type ErrorDetail, ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { type BodyCheck, FailureThrottle } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { Owner } from './owner.js';
import { maxEvents, maxUrlCharacters, unknownEvents } from './subscription.rules.js';

interface Target {
  readonly events?: readonly unknown[] | undefined;
  readonly url?: string | undefined;
}

/** URLs whose name resolves to a private address, per owner and replica. */
const privateNameQuota = { requests: 20, windowSeconds: 60 };

/** What a subscription must satisfy beyond its shape. */
@Injectable()
export class CheckTarget implements BodyCheck {
  private readonly privateNames = new FailureThrottle(privateNameQuota);

  constructor(private readonly client: GuardedClient) {}

  /** Asks no name server. @throws ValidationFailed with one detail for each fault */
  checkShape(target: Target): void {
    const faults = this.faultsOf(target);
    if (faults.length > 0) throw new ValidationFailed(faults);
  }

  /** Of a body whose other members are wrong, without asking a name server. Members of a wrong shape are left out: the DTO names them. */
  problemsOf({ events, url }: { readonly events?: unknown; readonly url?: unknown }): Promise<ErrorDetail[]> {
    return Promise.resolve(
      this.faultsOf({
        events: isList(events) && events.length <= maxEvents ? events : undefined,
        url: typeof url === 'string' && url.length <= maxUrlCharacters ? url : undefined,
      }),
    );
  }

  /**
   * Asks what the name resolves to. Comes after everything else that may reject the request: the response tells which names
   * of our network are private.
   * @throws ValidationFailed, RateLimited when the owner named too many private names
   */
  async checkName({ creatorId, clientId }: Owner, url: string): Promise<void> {
    const who = `${clientId}:${creatorId}`;
    this.privateNames.check(who);
    const reason = await this.client.findTargetProblem(url);
    if (reason === undefined) return;
    this.privateNames.add(who);
    throw new ValidationFailed([{ field: 'url', reason }]);
  }

  private faultsOf({ events = [], url }: Target): ErrorDetail[] {
    const faults: ErrorDetail[] = unknownEvents(events);
    const reason = url === undefined ? undefined : this.client.findUrlProblem(url);
    return reason === undefined ? faults : [...faults, { field: 'url', reason }];
  }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
