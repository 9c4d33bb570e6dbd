import { nextTraceparent } from './request-context.js';

describe('nextTraceparent', () => {
  it('stays in the trace of the caller with a span of its own', () => {
    const received = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const next = nextTraceparent(received);
    expect(next.slice(0, 36)).toBe(received.slice(0, 36));
    expect(next).not.toBe(received);
    expect(next).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it.each([undefined, '', 'x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'starts a trace when %p came',
    (received) => {
      expect(nextTraceparent(received)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    },
  );
});
