import { PaymentCircuitBreaker } from './payment-circuit-breaker.js';

/** A circuit that opens after three failed sources, and allows a trial after a second. */
function circuitUnderTest() {
  let nowMs = 0;
  const changes: boolean[] = [];
  const circuit = new PaymentCircuitBreaker({
    failures: 3,
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
    for (const source of sources) circuit.failed(enter(), source);
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { circuit, changes, enter, fail, pass };
}

describe('the circuit breaker of the payment provider', () => {
  it('opens after the configured number of sources failed without a response in between', () => {
    const { circuit, changes, enter, fail } = circuitUnderTest();
    fail('a', 'b');
    circuit.responded(enter());
    fail('a', 'b');
    expect(circuit.isOpen).toBe(false);
    fail('c');
    expect(circuit.isOpen).toBe(true);
    expect(circuit.enter('request')).toBeUndefined();
    expect(circuit.capacity('completer', 20)).toBe(0);
    expect(changes).toEqual([true]);
  });

  it('counts a source once, so that one creator cannot stop the others', () => {
    const { circuit, fail } = circuitUnderTest();
    fail('a', 'a', 'a', 'a', 'b', 'b');
    expect(circuit.isOpen).toBe(false);
  });

  it('allows one charge of the completer as a trial, and closes when the provider responds', () => {
    const { circuit, changes, enter, fail, pass } = circuitUnderTest();
    fail('a', 'b', 'c');
    pass(999);
    expect(circuit.capacity('completer', 20)).toBe(0);
    pass(1);
    expect(circuit.capacity('completer', 20)).toBe(1);
    const trial = enter('completer');
    expect(circuit.capacity('completer', 20)).toBe(0);
    expect(circuit.enter('completer')).toBeUndefined();
    circuit.responded(trial);
    expect(circuit.capacity('completer', 20)).toBe(20);
    expect(changes).toEqual([true, false]);
  });

  it('allows a request as a trial after twice the time, when the completer had no charge', () => {
    const { circuit, fail, pass } = circuitUnderTest();
    fail('a', 'b', 'c');
    pass(1_999);
    expect(circuit.enter('request')).toBeUndefined();
    pass(1);
    expect(circuit.enter('request')).toBeDefined();
  });

  it('stays open for the same time after a failed trial', () => {
    const { circuit, changes, enter, fail, pass } = circuitUnderTest();
    fail('a', 'b', 'c');
    pass(1_000);
    circuit.failed(enter('completer'), 'a');
    expect(circuit.capacity('completer', 20)).toBe(0);
    pass(1_000);
    expect(circuit.capacity('completer', 20)).toBe(1);
    expect(changes).toEqual([true]);
  });

  it('allows another trial when the first one was inconclusive', () => {
    const { circuit, enter, fail, pass } = circuitUnderTest();
    fail('a', 'b', 'c');
    pass(1_000);
    circuit.end(enter('completer'));
    expect(circuit.capacity('completer', 20)).toBe(1);
  });

  it('does not reopen by late failures of an outage that is over', () => {
    const { circuit, enter, fail, pass } = circuitUnderTest();
    const late = ['d', 'e', 'f'].map((source) => ({ source, permit: enter() }));
    fail('a', 'b', 'c');
    pass(1_000);
    circuit.responded(enter('completer'));
    pass(1);
    for (const { source, permit } of late) circuit.failed(permit, source);
    expect(circuit.isOpen).toBe(false);
  });
});
