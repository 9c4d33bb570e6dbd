import { nextTraceparent } from './traceparent.js';

describe('nextTraceparent', () => {
  it("stays in the caller's trace with a new span", () => {
    const received = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const next = nextTraceparent(received);
    expect(next.slice(0, 36)).toBe(received.slice(0, 36)); // version and trace id
    expect(next).not.toBe(received);
    expect(next).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it.each([
    ['00', undefined, '00'],
    ['03', undefined, '03'],
    ['00', true, '01'],
    ['01', false, '00'],
  ])('with the received flags %s and isSampled %p returns the flags %s', (flags, isSampled, expected) => {
    const received = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`;
    expect(nextTraceparent(received, { isSampled }).split('-')[3]).toBe(expected);
  });

  it.each(['4bf92f3577b34da6a3ce929d0e0e4736', '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'])(
    'starts a trace with the id of the request or message %s',
    (id) => {
      expect(nextTraceparent(undefined, { originId: id })).toMatch(
        /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/,
      );
    },
  );

  it.each(['req-1', '0'.repeat(32), `${'a'.repeat(31)}G`])('starts a random trace for the id %s', (id) => {
    expect(nextTraceparent(undefined, { originId: id })).toMatch(
      /^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/,
    );
    expect(nextTraceparent(undefined, { originId: id })).not.toContain(id);
  });

  it.each([undefined, '', 'x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'starts a trace when it receives %p',
    (received) => {
      expect(nextTraceparent(received)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    },
  );
});
