import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventEmitter } from 'node:events';
import { of } from 'rxjs';
import { ConcurrencyInterceptor } from './concurrency-limit.js';

describe('ConcurrencyInterceptor', () => {
  const started: number[] = [];
  beforeEach(() => started.splice(0));

  /** Requests that end when the test closes their response. */
  function requests(limit: ConcurrencyInterceptor, count: number) {
    return Array.from({ length: count }, (_, index) => {
      const response = new EventEmitter();
      const handled = limit.intercept(new ExecutionContextHost([{}, response]), {
        handle: () => {
          started.push(index);
          return of(index);
        },
      });
      return { handled, close: () => response.emit('close') };
    });
  }
  const settle = () => new Promise(setImmediate);

  it('limits concurrent requests, and handles waiting ones in the order of their arrival', async () => {
    const all = requests(new ConcurrencyInterceptor(2), 5);
    await settle();
    expect(started).toEqual([0, 1]);
    all[1]?.close();
    await settle();
    expect(started).toEqual([0, 1, 2]);
    for (const { close } of all) close();
    await settle();
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it('rejects requests beyond the waiting limit with 503, and accepts requests when slots are free', async () => {
    const limit = new ConcurrencyInterceptor(1);
    const all = requests(limit, 102);
    await expect(all[101]?.handled).rejects.toThrow(ServiceUnavailable);
    for (const { close } of all.slice(0, 101)) {
      close();
      await settle();
    }
    expect(started).toHaveLength(101);
    const [next] = requests(limit, 1);
    await next?.handled;
    expect(started).toHaveLength(102);
  });
});
