import { readableLine } from './log-lines.ts';

describe('a readable log line', () => {
  it('consists of time, service, message and other fields, without the id of the trace', () => {
    const line = JSON.stringify({
      level: 'info',
      time: '2026-11-20T10:11:12.345Z',
      service: 'store-api',
      trace_id: 'f00',
      order_id: 'ord_1',
      duration_ms: 12,
      message: 'Placed an order.',
    });
    expect(readableLine('store-api', line, false)).toBe(
      '10:11:12 store-api      Placed an order. order_id=ord_1 duration_ms=12',
    );
  });

  it('shows the message of an error without its stack trace', () => {
    const line = JSON.stringify({
      level: 'error',
      message: 'Failed.',
      error: { message: 'no route', stack: 'at …' },
    });
    expect(readableLine('auth-server', line, false)).toMatch(/ Failed\. error="no route"$/);
  });

  it('contains text that is not JSON unchanged', () => {
    expect(readableLine('gateway', 'nginx: [warn] something', false)).toContain('nginx: [warn] something');
    expect(readableLine('gateway', '{broken', false)).toContain('{broken');
  });
});
