import { format } from './format.ts';

describe('the output of commands', () => {
  const event = {
    at: '2026-03-01T12:00:00.000Z',
    event: 'signed_in',
    user_id: '0192',
    email: 'owner@harbour.example',
    client_id: 'dashboard',
    ip: '203.0.113.7',
    user_agent: 'A browser \u001b[2J\u202e',
    details: {},
  };

  it('has a line for each entry, in columns, and the option for the next page', () => {
    const rotated = {
      ...event,
      event: 'keys_rotated',
      user_id: null,
      email: null,
      ip: null,
      user_agent: null,
    };
    const text = format({
      events: [event, { ...rotated, details: { actor: 'schedule' } }],
      before: '17.4',
    });
    const [head = '', first = '', second = '', rest] = text.split('\n');
    expect(first.indexOf('signed_in')).toBe(head.indexOf('EVENT'));
    expect(second).toContain('{"actor":"schedule"}');
    expect(rest).toBe('Older records: --before 17.4');
  });

  it('shows the status of a subscription, with its reason', () => {
    const one = {
      id: 'whk_1',
      client_id: 'shop',
      url: 'https://shop.example/',
      events: ['order.created', 'order.shipped'],
      status: 'active',
      consecutive_failures: 0,
      created_at: '2026-03-01T12:00:00.000Z',
      last_delivery_at: null,
      disabled_reason: null,
      deleted_at: null,
      deleted_reason: null,
    };
    const disabled = { ...one, status: 'disabled', disabled_reason: 'failing' };
    const deleted = { ...disabled, deleted_at: one.created_at, deleted_reason: 'client_deleted' };
    const text = format({ subscriptions: [one, disabled, deleted], next: 'whk_1' });
    const states = text.split('\n').map((line) => line.slice(text.indexOf('STATUS')).split('  ')[0]);
    expect(states.slice(1, 4)).toEqual(['active', 'disabled (failing)', 'deleted (client_deleted)']);
    expect(text).toContain('More: --after whk_1');
  });

  it('contains no control characters of a user agent', () => {
    const text = format({ events: [event], before: null });
    for (const stray of ['\u001b', '\u202e']) expect(text).not.toContain(stray);
  });

  it('contains no control characters of a value that is not in a list', () => {
    const text = format({ reason: 'Unknown type \u001b[2J', about: { sku: '\u202e' } });
    expect(text).toBe('reason: Unknown type \ufffd[2J\nabout: {"sku":"\ufffd"}');
  });

  it('has only the headings if there are no entries', () => {
    expect(format({ clients: [], next: null })).toMatch(/^CLIENT +NAME/);
  });
});
