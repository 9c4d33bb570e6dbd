import { describe, expect, it } from '@jest/globals';
import { auditTable, clientTable } from './tables.ts';

describe('lists that a person reads', () => {
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

  it('have a line for each thing, in columns, and say how to go on', () => {
    const rotated = {
      ...event,
      event: 'keys_rotated',
      user_id: null,
      email: null,
      ip: null,
      user_agent: null,
    };
    const text = auditTable({
      events: [event, { ...rotated, details: { actor: 'schedule' } }],
      before: '17.4',
    });
    const [head = '', first = '', second = '', rest] = text.split('\n');
    expect(first.indexOf('signed_in')).toBe(head.indexOf('EVENT'));
    expect(second).toContain('{"actor":"schedule"}');
    expect(rest).toBe('Older ones: --before 17.4');
  });

  it('are safe to print, whatever a stranger called their browser', () => {
    const text = auditTable({ events: [event], before: null });
    for (const stray of ['\u001b', '\u202e']) expect(text).not.toContain(stray);
  });

  it('are a head alone when there is nothing', () => {
    expect(clientTable({ clients: [], next: null })).toMatch(/^CLIENT +NAME/);
  });
});
