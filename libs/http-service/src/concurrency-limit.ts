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
 * Handles at most so many requests of the route at once in this process; up to 100 more wait for their turn, others are 503.
 * For responses so large that many of them would fill the memory.
 */
export function ConcurrencyLimit(atOnce: number): MethodDecorator {
  return UseInterceptors(new ConcurrencyInterceptor(atOnce));
}

export class ConcurrencyInterceptor implements NestInterceptor {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    await this.begin();
    // A response that was sent whole closes, too, and so does one whose client has gone.
    const response = context.switchToHttp().getResponse<Response>();
    if (response.closed) this.end();
    else response.once('close', () => this.end());
    return next.handle();
  }

  private async begin(): Promise<void> {
    if (this.running < this.atOnce) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= maxWaiting)
      throw new ServiceUnavailable('Too many of these requests are handled at once.');
    await new Promise<void>((resolve) => this.waiting.push(resolve)); // the request that ends leaves its place
  }

  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}
