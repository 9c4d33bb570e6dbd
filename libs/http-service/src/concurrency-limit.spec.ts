import { RateLimited, ServiceUnavailable } from '@fulfilment/error-envelope';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventEmitter } from 'node:events';
import { of } from 'rxjs';
import { type Caller, setCaller } from './access/caller.js';
import { ConcurrencyInterceptor, maxWaiting } from './concurrency-limit.js';

/** Requests that a limit of one accepts: one runs, the others wait. */
const capacity = 1 + maxWaiting;
const anyone: Caller = {
  subject: 'someone',
  clientId: 'test',
  creatorId: undefined,
  organisationId: undefined,
  organisationRole: undefined,
  scopes: new Set(),
  audiences: [],
  tokenId: 'test',
  tokenIssuedAt: new Date(),
  tokenExpiresAt: new Date(Date.now() + 600_000),
};

describe('ConcurrencyInterceptor', () => {
  const started: number[] = [];
  beforeEach(() => started.splice(0));

  /** Requests that end when the test closes their response. */
  function requests(
    limit: ConcurrencyInterceptor,
    count: number,
    caller: Partial<Caller> = {},
    { closed } = { closed: false },
  ) {
    return Array.from({ length: count }, (_, index) => {
      const [request, response] = [{}, Object.assign(new EventEmitter(), { closed })];
      setCaller(request, { ...anyone, ...caller });
      const handled = limit.intercept(new ExecutionContextHost([request, response]), {
        handle: () => {
          started.push(index);
          return of(index);
        },
      });
      const close = (): void => {
        response.closed = true;
        response.emit('close');
      };
      return { handled, close };
    });
  }
  const nextTick = () => new Promise(setImmediate);

  it('limits concurrent requests, and handles waiting ones in the order of their arrival', async () => {
    const all = requests(new ConcurrencyInterceptor({ maxConcurrent: 2 }), 5);
    await nextTick();
    expect(started).toEqual([0, 1]);
    all[1]?.close();
    await nextTick();
    expect(started).toEqual([0, 1, 2]);
    for (const { close } of all) {
      close();
      await nextTick();
    }
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it('does not handle a waiting request whose client has disconnected', async () => {
    const all = requests(new ConcurrencyInterceptor({ maxConcurrent: 1 }), 3);
    await nextTick();
    all[1]?.close();
    all[0]?.close();
    await nextTick();
    expect(started).toEqual([0, 2]);
  });

  it('frees the place of a waiting request, and the one of its tenant, when its client disconnects', async () => {
    const limit = new ConcurrencyInterceptor({ maxConcurrent: 1, maxPerTenant: capacity });
    const all = requests(limit, capacity, { organisationId: 'org_a' });
    all[1]?.close();
    await nextTick();
    const [next] = requests(limit, 1, { organisationId: 'org_a' });
    await expect(Promise.race([next?.handled, nextTick().then(() => 'waits')])).resolves.toBe('waits');
    expect(started).toEqual([0]);
  });

  it('keeps no place for a request whose client has disconnected before the limit is checked', async () => {
    const limit = new ConcurrencyInterceptor({ maxConcurrent: 1, maxPerTenant: 2 });
    const [running] = requests(limit, 1, { organisationId: 'org_a' });
    await running?.handled;
    const [left] = requests(limit, 1, { organisationId: 'org_a' }, { closed: true });
    await left?.handled;
    const [next] = requests(limit, 1, { organisationId: 'org_a' });
    await expect(Promise.race([next?.handled, nextTick().then(() => 'waits')])).resolves.toBe('waits');
    expect(started).toHaveLength(1);
  });

  it('rejects requests beyond the waiting limit with 503, and accepts requests when slots are free', async () => {
    const limit = new ConcurrencyInterceptor({ maxConcurrent: 1 });
    const all = requests(limit, capacity + 1);
    await expect(all[capacity]?.handled).rejects.toThrow(ServiceUnavailable);
    for (const { close } of all.slice(0, capacity)) {
      close();
      await nextTick();
    }
    expect(started).toHaveLength(capacity);
    const [next] = requests(limit, 1);
    await next?.handled;
    expect(started).toHaveLength(capacity + 1);
  });

  it('rejects requests beyond the limit of their tenant with 429, and handles requests of other tenants', async () => {
    const limit = new ConcurrencyInterceptor({ maxConcurrent: 2, maxPerTenant: 1 });
    const [first] = requests(limit, 1, { organisationId: 'org_a' });
    const [sameTenant] = requests(limit, 1, { organisationId: 'org_a', subject: 'a colleague' });
    await expect(sameTenant?.handled).rejects.toThrow(RateLimited);
    const [other] = requests(limit, 1, { organisationId: 'org_b' });
    await other?.handled;
    const [waiting] = requests(limit, 1, { creatorId: 'creator_c' });
    const [waitingTooLong] = requests(limit, 1, { creatorId: 'creator_c' });
    await expect(waitingTooLong?.handled).rejects.toThrow(RateLimited);
    first?.close();
    await waiting?.handled;
    other?.close();
    await requests(limit, 1, { organisationId: 'org_a' })[0]?.handled;
    expect(started).toHaveLength(4);
  });

  it('frees the slot of the tenant when a request is rejected with 503', async () => {
    const limit = new ConcurrencyInterceptor({ maxConcurrent: 1, maxPerTenant: capacity });
    const all = requests(limit, capacity, { organisationId: 'org_a' });
    const [rejected] = requests(limit, 1, { organisationId: 'org_b' });
    await expect(rejected?.handled).rejects.toThrow(ServiceUnavailable);
    for (const { close } of all) {
      close();
      await nextTick();
    }
    const allowed = requests(limit, capacity, { organisationId: 'org_b' });
    // With a lost slot the last one would be rejected with 429.
    await expect(Promise.race([allowed.at(-1)?.handled, nextTick().then(() => 'waits')])).resolves.toBe(
      'waits',
    );
  });
});
