import { RateLimited, ServiceUnavailable } from '@fulfilment/error-envelope';
import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, of } from 'rxjs';
import { callerOf, tenantKey } from './access/caller.js';

/** Maximum number of waiting requests of one route in this process. Each holds little memory. */
export const maxWaiting = 100;
const retryAfterSeconds = 1;

interface Limits {
  readonly maxConcurrent: number;
  /** Maximum for one tenant, of running and waiting requests together. */
  readonly maxPerTenant?: number;
}

/**
 * Limits the concurrent requests of a route in this process. Up to 100 more requests wait. Beyond that, the
 * response is 503; beyond the limit of a tenant, 429. For responses that hold much memory or a connection.
 */
export function ConcurrencyLimit(limits: Limits): MethodDecorator {
  return UseInterceptors(new ConcurrencyInterceptor(limits));
}

export class ConcurrencyInterceptor implements NestInterceptor {
  private running = 0;
  /** In the order of arrival. Each function hands over a slot. */
  private readonly waiting = new Set<() => void>();
  /** Number of running and waiting requests by tenant. */
  private readonly perTenant = new Map<string, number>();

  constructor(private readonly limits: Limits) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const endForTenant = this.beginForTenant(http.getRequest<object>());
    let hasSlot: boolean;
    try {
      hasSlot = await this.acquireSlot(response);
    } catch (error) {
      endForTenant();
      throw error;
    }
    const end = (): void => {
      endForTenant();
      if (hasSlot) this.releaseSlot();
    };
    if (response.closed) {
      end(); // the client has disconnected, usually while the request waited
      return of(undefined);
    }
    // `close` comes after the whole response, and also when the client disconnects.
    response.once('close', end);
    return next.handle();
  }

  /** Counts a request for its tenant. Returns a function that ends the count. @throws RateLimited */
  private beginForTenant(request: object): () => void {
    const { maxPerTenant } = this.limits;
    if (maxPerTenant === undefined) return () => undefined;
    const tenant = tenantKey(callerOf(request));
    const count = this.perTenant.get(tenant) ?? 0;
    if (count >= maxPerTenant) throw new RateLimited(retryAfterSeconds);
    this.perTenant.set(tenant, count + 1);
    return () => {
      const remaining = (this.perTenant.get(tenant) ?? 1) - 1;
      if (remaining === 0) this.perTenant.delete(tenant);
      else this.perTenant.set(tenant, remaining);
    };
  }

  /**
   * Waits for a slot. Returns false if the client disconnects before it gets one.
   * @throws ServiceUnavailable if too many requests wait
   */
  private async acquireSlot(response: Response): Promise<boolean> {
    if (response.closed) return false;
    if (this.running < this.limits.maxConcurrent) {
      this.running += 1;
      return true;
    }
    if (this.waiting.size >= maxWaiting)
      throw new ServiceUnavailable('Too many requests of this operation are in progress. Retry later.');
    return new Promise<boolean>((resolve) => {
      const handOver = (): void => resolve(true);
      this.waiting.add(handOver);
      response.once('close', () => {
        if (this.waiting.delete(handOver)) resolve(false);
      });
    });
  }

  private releaseSlot(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
