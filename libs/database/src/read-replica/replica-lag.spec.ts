import { setImmediate as untilNextIteration } from 'node:timers/promises';
import { ReplicaLag } from './replica-lag.js';

const longLagMs = 60_000;

/** Positions that the test changes. `replayed` moves one step forward each time it is read. */
class FakeWal {
  primaryReads = 0;
  constructor(
    readonly confirmed: number | undefined,
    public steps: readonly (number | undefined)[],
  ) {}

  primary = (): Promise<number | undefined> => {
    this.primaryReads += 1;
    return Promise.resolve(this.confirmed);
  };
  replayed = (): Promise<number | undefined> => {
    const [step, ...later] = this.steps;
    if (later.length > 0) this.steps = later;
    return Promise.resolve(step);
  };
}

describe('a replica', () => {
  it('is current when it has replayed every confirmed write', async () => {
    expect(await new ReplicaLag(new FakeWal(100, [100]), longLagMs).waitUntilCurrent()).toBe(true);
  });

  it('is current as soon as it has caught up', async () => {
    expect(await new ReplicaLag(new FakeWal(100, [80, 90, 100]), longLagMs).waitUntilCurrent()).toBe(true);
  });

  it('is not current when it does not catch up in time', async () => {
    expect(await new ReplicaLag(new FakeWal(100, [99]), 1).waitUntilCurrent()).toBe(false);
  });

  it.each([
    ['the primary has no position', new FakeWal(undefined, [100])],
    ['the server is not a replica', new FakeWal(100, [undefined])],
  ])('is not current when %s', async (_, wal) => {
    expect(await new ReplicaLag(wal, longLagMs).waitUntilCurrent()).toBe(false);
  });

  it('is not current when a server cannot be reached', async () => {
    const wal = { primary: () => Promise.resolve(100), replayed: () => Promise.reject(new Error('down')) };
    expect(await new ReplicaLag(wal, longLagMs).waitUntilCurrent()).toBe(false);
  });

  it('is not waited for while it lags, and probed by one read at a time until it has caught up', async () => {
    let nowMs = 0;
    const wal = new FakeWal(100, [99]);
    const lag = new ReplicaLag(wal, 1, () => nowMs);
    expect(await lag.waitUntilCurrent()).toBe(false);
    wal.steps = [100];
    expect(await lag.waitUntilCurrent()).toBe(false);
    expect(wal.primaryReads).toBe(1);
    nowMs += 250; // a probe is due
    expect(await Promise.all([lag.waitUntilCurrent(), lag.waitUntilCurrent()])).toEqual([false, false]);
    expect(wal.primaryReads).toBe(2);
    await untilNextIteration(); // the probe has ended
    expect(await lag.waitUntilCurrent()).toBe(true);
  });
});
