import { uuidv7 } from '@fulfilment/contracts';
import { eventDay } from './event-day.rules.js';

describe("an event's day", () => {
  it('is that of its UUIDv7, whatever occurred_at says', () => {
    expect(eventDay(uuidv7(new Date('2026-11-20T23:59:59.999Z')), '2026-12-24T00:00:00Z')).toBe('2026-11-20');
  });

  it('is that of occurred_at for other ids', () => {
    expect(eventDay('6d3f2a70-0000-4000-8000-000000000000', '2026-11-20T23:30:00-02:00')).toBe('2026-11-21');
  });
});
