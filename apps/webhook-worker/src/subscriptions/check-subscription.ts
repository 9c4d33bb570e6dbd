import { type ErrorDetail, ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { type BodyCheck, FailureThrottle } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { Owner } from './owner.js';
import { unknownEvents } from './subscription.rules.js';

interface Target {
  readonly events?: readonly unknown[] | undefined;
  readonly url?: string | undefined;
}

/** Maximum number of rejected URLs with a private host name, for each owner in each replica. */
const rejectedTargetQuota = { requests: 20, windowSeconds: 60 };

/** Validates the events and the URL of a subscription beyond their types. */
@Injectable()
export class CheckSubscription implements BodyCheck {
  private readonly rejectedTargets = new FailureThrottle(rejectedTargetQuota);

  constructor(private readonly client: GuardedClient) {}

  /** Checks events and URL without a DNS query. @throws ValidationFailed with one detail for each problem */
  checkSyntax(target: Target): void {
    const problems = this.findProblems(target);
    if (problems.length > 0) throw new ValidationFailed(problems);
  }

  /**
   * Returns the problems of a body whose other members are invalid, without DNS queries. Ignores `events` and
   * `url` if they have a wrong type, which the DTO reports.
   */
  problemsOf({ events, url }: { readonly events?: unknown; readonly url?: unknown }): Promise<ErrorDetail[]> {
    return Promise.resolve(
      this.findProblems({
        events: Array.isArray(events) ? events : undefined,
        url: typeof url === 'string' ? url : undefined,
      }),
    );
  }

  /**
   * Resolves the name. Call it after all other checks, since the response reveals which names of this network
   * are private.
   * @throws ValidationFailed; RateLimited after too many URLs of the owner with a private host name
   */
  async checkHostName({ creatorId, clientId }: Owner, url: string): Promise<void> {
    await this.rejectedTargets.attempt(`${clientId}:${creatorId}`, async () => {
      const reason = await this.client.findAddressProblem(url);
      if (reason !== undefined) throw new ValidationFailed([{ field: 'url', reason }]);
    });
  }

  private findProblems({ events = [], url }: Target): ErrorDetail[] {
    const problems = unknownEvents(events);
    const reason = url === undefined ? undefined : this.client.findUrlProblem(url);
    return reason === undefined ? problems : [...problems, { field: 'url', reason }];
  }
}
