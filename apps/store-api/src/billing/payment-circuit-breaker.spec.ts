import { PaymentCircuitBreaker } from './payment-circuit-breaker.js';

/** A circuit that opens after three failed sources, and allows a trial after 1 s. */
function circuitUnderTest() {
  let nowMs = 0;
  const changes: boolean[] = [];
  const circuit = new PaymentCircuitBreaker({
    failedSourcesToOpen: 3,
    openMs: 1_000,
    now: () => nowMs,
    onChange: (isOpen) => changes.push(isOpen),
  });
  const enter = (user: 'request' | 'completer' = 'request') => {
    const permit = circuit.enter(user);
    if (permit === undefined) throw new Error('The circuit gave no permit.');
    return permit;
  };
  const fail = (...sources: readonly string[]) => {
    for (const source of sources) circuit.recordFailure(enter(), source);
  };
  const advanceClock = (ms: number) => {
    nowMs += ms;
  };
  return { circuit, changes, enter, fail, advanceClock };
}

describe('the circuit breaker of the payment provider', () => {
  it('opens after three sources have failed without a result in between', () => {
    const { circuit, changes, enter, fail } = circuitUnderTest();
    fail('a', 'b');
    circuit.recordResult(enter());
    fail('a', 'b');
    expect(circuit.isOpen).toBe(false);
    fail('c');
    expect(circuit.isOpen).toBe(true);
    expect(circuit.enter('request')).toBeUndefined();
    expect(circuit.capacity('completer', 20)).toBe(0);
    expect(changes).toEqual([true]);
  });

  it('opens once, although charges that were sent before fail later', () => {
    const { circuit, changes, enter, fail } = circuitUnderTest();
    const sent = [enter(), enter(), enter()];
    fail('a', 'b', 'c');
    for (const [index, permit] of sent.entries()) circuit.recordFailure(permit, `late ${index}`);
    expect(changes).toEqual([true]);
  });

  it('allows one trial at a time, although a charge that was sent before ends', () => {
    const { circuit, enter, fail, advanceClock } = circuitUnderTest();
    const sent = enter();
    fail('a', 'b', 'c');
    advanceClock(1_000);
    enter('completer');
    circuit.release(sent);
    expect(circuit.enter('completer')).toBeUndefined();
  });

  it('allows one trial at a time, although the circuit has closed and opened again since its start', () => {
    const { circuit, enter, fail, advanceClock } = circuitUnderTest();
    const sent = enter();
    fail('a', 'b', 'c');
    advanceClock(1_000);
    const trial = enter('completer');
    circuit.recordResult(sent);
    fail('a', 'b', 'c');
    advanceClock(1_000);
    expect(circuit.enter('completer')).toBeUndefined();
    circuit.release(trial);
    expect(circuit.enter('completer')).toBeDefined();
  });

  it('stays closed while two sources fail often, so that a few creators cannot stop the others', () => {
    const { circuit, fail } = circuitUnderTest();
    fail('a', 'a', 'a', 'a', 'b', 'b');
    expect(circuit.isOpen).toBe(false);
  });

  it('allows one charge of the completer as a trial, and closes when the provider responds', () => {
    const { circuit, changes, enter, fail, advanceClock } = circuitUnderTest();
    fail('a', 'b', 'c');
    advanceClock(999);
    expect(circuit.capacity('completer', 20)).toBe(0);
    advanceClock(1);
    expect(circuit.capacity('completer', 20)).toBe(1);
    const trial = enter('completer');
    expect(circuit.capacity('completer', 20)).toBe(0);
    expect(circuit.enter('completer')).toBeUndefined();
    circuit.recordResult(trial);
    expect(circuit.capacity('completer', 20)).toBe(20);
    expect(changes).toEqual([true, false]);
  });

  it('allows a request as a trial after twice the time, if the completer has started none', () => {
    const { circuit, fail, advanceClock } = circuitUnderTest();
    fail('a', 'b', 'c');
    advanceClock(1_999);
    expect(circuit.enter('request')).toBeUndefined();
    advanceClock(1);
    expect(circuit.enter('request')).toBeDefined();
  });

  it('waits the same time for the next trial after a failed one', () => {
    const { circuit, changes, enter, fail, advanceClock } = circuitUnderTest();
    fail('a', 'b', 'c');
    advanceClock(1_000);
    circuit.recordFailure(enter('completer'), 'a');
    expect(circuit.capacity('completer', 20)).toBe(0);
    advanceClock(1_000);
    expect(circuit.capacity('completer', 20)).toBe(1);
    expect(changes).toEqual([true]);
  });

  it('allows another trial when the first one was inconclusive', () => {
    const { circuit, enter, fail, advanceClock } = circuitUnderTest();
    fail('a', 'b', 'c');
    advanceClock(1_000);
    circuit.release(enter('completer'));
    expect(circuit.capacity('completer', 20)).toBe(1);
  });

  it('stays closed after late failures of charges that were sent before the outage ended', () => {
    const { circuit, enter, fail, advanceClock } = circuitUnderTest();
    const late = ['d', 'e', 'f'].map((source) => ({ source, permit: enter() }));
    fail('a', 'b', 'c');
    advanceClock(1_000);
    circuit.recordResult(enter('completer'));
    advanceClock(1);
    for (const { source, permit } of late) circuit.recordFailure(permit, source);
    expect(circuit.isOpen).toBe(false);
  });
});
