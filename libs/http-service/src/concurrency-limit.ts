import { ServiceUnavailable } from '@fulfilment/error-envelope';
import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';

const maxWaiting = 100;

/**
 * Limits the concurrent requests of a route in this process. Up to 100 more wait, others are 503. For
 * responses so large that many of them would exhaust the memory.
 */
export function ConcurrencyLimit(maxConcurrent: number): MethodDecorator {
  return UseInterceptors(new ConcurrencyInterceptor(maxConcurrent));
}

export class ConcurrencyInterceptor implements NestInterceptor {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly maxConcurrent: number) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    await this.begin();
    // `close` comes after the whole response, and also when the client disconnects.
    const response = context.switchToHttp().getResponse<Response>();
    if (response.closed) this.end();
    else response.once('close', () => this.end());
    return next.handle();
  }

  private async begin(): Promise<void> {
    if (this.running < this.maxConcurrent) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= maxWaiting)
      throw new ServiceUnavailable('Too many of these requests are in progress.');
    await new Promise<void>((resolve) => this.waiting.push(resolve)); // `end` passes the slot on
  }

  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}
