import { uuidv7 } from '../ids.js';
import { InvalidMessage, messages, parseMessage } from './messages.js';

const occurredAt = new Date('2026-03-01T12:00:00.000Z');
const stockSet = messages.fulfilmentStockSet.make({ sku: 'prod_x', quantity: 3 }, { occurredAt });

describe('the message catalogue', () => {
  it('parses a message that it created', () => {
    const read = parseMessage(JSON.stringify(stockSet));
    expect(read).toEqual(stockSet);
    expect(messages.fulfilmentStockSet.is(read)).toBe(true);
    expect(messages.orderCreated.is(read)).toBe(false);
  });

  it('converts UUIDs to lower case', () => {
    const edition = {
      id: '01890000-0000-7000-8000-00000000ABCD',
      creator_id: '01890000-0000-7000-8000-00000000EF01',
      title: 'Night Ferry',
      release_type_id: 1,
      ean: null,
      created_at: '2026-03-01T12:00:00Z',
    };
    const message = messages.editionCreated.make({ edition }, { occurredAt });
    const sent = { ...message, id: message.id.toUpperCase(), data: { edition } };
    expect(parseMessage(JSON.stringify(sent))).toMatchObject({
      id: message.id,
      data: { edition: { id: edition.id.toLowerCase(), creator_id: edition.creator_id.toLowerCase() } },
    });
  });

  it.each([
    ['text that is not JSON', 'x{'],
    ['a message without an envelope', '{}'],
    ['a message of an unknown type', JSON.stringify({ ...stockSet, type: 'x.y' })],
    ['a message whose data has the wrong shape', JSON.stringify({ ...stockSet, data: { sku: 1 } })],
    ['a message of an unknown version', JSON.stringify({ ...stockSet, version: 9 })],
  ])('rejects %s', (_, text) => {
    expect(() => parseMessage(text)).toThrow(InvalidMessage);
  });

  it.each([
    ['a control character', { carrier: 'Royal\u0000Mail' }, /carrier: must not contain control characters/],
    [
      'an unpaired surrogate',
      { tracking_number: 'A\ud800' },
      /tracking_number: must not contain control characters/,
    ],
    [
      'a control character in a link',
      { tracking_url: 'https://track.example/\u0001' },
      /tracking_url: must not contain/,
    ],
    ['a control character in an id', { order_id: 'ord_\u0000' }, /order_id: must not contain/],
    ['the year 0', { shipped_at: '0000-01-01T00:00:00Z' }, /shipped_at: must not be in the year 0/],
  ])('rejects %s and names the field', (_, change, reason) => {
    const parcel = {
      order_id: 'ord_1',
      carrier: '郵便 📦',
      tracking_number: 'A',
      tracking_url: 'https://track.example/A',
    };
    const valid = messages.fulfilmentShipped.make(parcel, { occurredAt });
    expect(parseMessage(JSON.stringify(valid))).toEqual(valid);
    const invalid = { ...valid, data: { ...parcel, ...change } };
    expect(() => parseMessage(JSON.stringify(invalid))).toThrow(reason);
  });

  it('accepts a reason of several lines', () => {
    const data = { order_id: 'ord_1', reason: 'no stock\nuntil May' };
    const valid = messages.fulfilmentCancelled.make(data, { occurredAt });
    expect(parseMessage(JSON.stringify(valid))).toEqual(valid);
  });

  it('rejects an envelope with a time in the year 0', () => {
    expect(() => parseMessage(JSON.stringify({ ...stockSet, occurred_at: '0000-02-01T00:00:00Z' }))).toThrow(
      /occurred_at: must not be in the year 0/,
    );
  });

  it.each([
    ['longer than a day', { duration_seconds: 86_401 }, /duration_seconds/],
    ['with a position above 999', { position: 1000 }, /position/],
  ])('rejects a track %s', (_, change, reason) => {
    const track = { release_id: uuidv7(), track_id: uuidv7(), title: null, position: 999 };
    const data = { ...track, duration_seconds: 86_400 };
    const valid = messages.trackProcessed.make(data, { occurredAt });
    expect(parseMessage(JSON.stringify(valid))).toEqual(valid);
    const invalid = { ...valid, data: { ...data, ...change } };
    expect(() => parseMessage(JSON.stringify(invalid))).toThrow(reason);
  });

  it('names the invalid field in the reason, never its value', () => {
    const invalid = { ...stockSet, data: { sku: 'secret', quantity: 'secret' } };
    expect(() => parseMessage(JSON.stringify(invalid))).toThrow(/data: quantity/);
    expect(() => parseMessage(JSON.stringify(invalid))).not.toThrow(/secret/);
  });
});
