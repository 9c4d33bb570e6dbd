import { jest } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { type Exchange, ExchangeHandler, type ExchangeOptions } from './exchange.js';

const options = { deadlineMs: 200, bodyTimeoutMs: 200, maxReadBytes: Infinity, maxKeptBytes: 0 };

class FakeController implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

/** Starts an exchange, whose response the test provides. */
function startExchange(changes: Partial<ExchangeOptions> = {}) {
  const controller = new FakeController();
  let result: Exchange | undefined;
  const handler = new ExchangeHandler({ ...options, ...changes }, (exchange) => {
    result = exchange;
  });
  handler.onRequestStart(controller);
  return {
    controller,
    result: () => result,
    respond: (status: number) => handler.onResponseStart(controller, status, {}),
    receive: (bytes: number) => handler.onResponseData(controller, Buffer.alloc(bytes)),
    end: () => handler.onResponseEnd(),
  };
}

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('an exchange whose deadline timer fires late', () => {
  const setTime = (ms: number) => jest.spyOn(performance, 'now').mockReturnValue(ms);
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    setTime(0);
  });

  /** Runs the timer of the deadline at this time after the start. */
  const reachDeadlineAt = (ms: number): void => {
    setTime(ms);
    jest.advanceTimersByTime(options.deadlineMs);
  };

  it.each([
    [1_001, true],
    [1_000, false],
  ])('by %i ms and without a status is a timeout, and a local failure: %j', (lateMs, isLocal) => {
    const { result, controller } = startExchange();
    reachDeadlineAt(options.deadlineMs + lateMs);
    expect(result()).toMatchObject({ outcome: 'timeout', isLocalFailure: isLocal, processStalled: isLocal });
    expect(controller.aborted).toBe(true);
  });

  it('after its status has arrived has the outcome of the status, and is no local failure', () => {
    const { result, respond } = startExchange();
    respond(500);
    reachDeadlineAt(options.deadlineMs + 1_500);
    expect(result()).toMatchObject({
      outcome: 'http_error',
      statusCode: 500,
      isLocalFailure: false,
      processStalled: true,
    });
  });
});

describe('an exchange with a minimum throughput', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  const startMeasured = (changes: Partial<ExchangeOptions> = {}) =>
    startExchange({
      deadlineMs: 10_000,
      bodyTimeoutMs: 10_000,
      minThroughput: { bytes: 1_000, intervalMs: 200 },
      ...changes,
    });
  const endInterval = () => jest.advanceTimersByTimeAsync(200);

  it('is aborted after the first interval in which too few bytes arrive', async () => {
    const { respond, receive, result, controller } = startMeasured();
    respond(200);
    receive(600);
    receive(400);
    await endInterval();
    expect([result(), controller.aborted]).toEqual([undefined, false]);
    receive(999);
    await endInterval();
    expect(result()).toMatchObject({ outcome: 'succeeded', complete: false, abortReason: 'slow' });
    expect(controller.aborted).toBe(true);
  });

  it('is aborted when no response arrives in the first interval', async () => {
    const { result } = startMeasured();
    await endInterval();
    expect(result()).toMatchObject({ outcome: 'timeout', abortReason: 'slow' });
  });

  it('has a whole interval for the first bytes of a response that arrives late', async () => {
    const { respond, receive, result } = startMeasured();
    await jest.advanceTimersByTimeAsync(190);
    respond(200);
    await jest.advanceTimersByTimeAsync(190);
    receive(1_000);
    await jest.advanceTimersByTimeAsync(10);
    expect(result()).toBeUndefined();
    await endInterval();
    expect(result()).toMatchObject({ abortReason: 'slow' });
  });

  it('continues until the timeout of its body while enough bytes arrive', async () => {
    const { respond, receive, result } = startMeasured({ bodyTimeoutMs: 900 }); // in the fifth interval
    respond(200);
    for (let interval = 0; interval < 4; interval += 1) {
      receive(1_000);
      await endInterval();
    }
    expect(result()).toBeUndefined();
    await endInterval();
    expect(result()).toMatchObject({ abortReason: 'deadline' });
  });

  it('continues after an interval in which few bytes arrived because the process stalled', async () => {
    const { respond, result } = startMeasured();
    respond(200);
    const startedAtMs = performance.now();
    const now = jest.spyOn(performance, 'now').mockReturnValue(startedAtMs + 1_401); // 1201 ms late
    await endInterval();
    expect(result()).toBeUndefined();
    now.mockReturnValue(startedAtMs + 1_601);
    await endInterval();
    expect(result()).toMatchObject({ abortReason: 'slow' });
  });

  it('continues while few bytes arrive because their consumer is slow', async () => {
    const consumed = Promise.withResolvers<void>();
    const { respond, receive, end, result, controller } = startMeasured({ onChunk: () => consumed.promise });
    respond(200);
    receive(1);
    for (let interval = 0; interval < 3; interval += 1) await endInterval();
    expect([result(), controller.paused]).toEqual([undefined, true]);
    consumed.resolve();
    await consumed.promise;
    end();
    expect([result(), controller.paused]).toMatchObject([{ complete: true, abortReason: undefined }, false]);
  });
});
