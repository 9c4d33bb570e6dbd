import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import type { JsonObject } from './json-schema.ts';
import { messageBreaks } from './message-changes.ts';

const published = readFileSync(join(root, 'docs', 'reference', 'asyncapi.json'), 'utf8');

function message(data: JsonObject, required: readonly string[], action: 'send' | 'receive' = 'send') {
  const payload = { type: 'object', properties: data, required };
  return {
    operations: { 'order.created': { action } },
    components: { messages: { 'order.created': { payload } } },
  };
}
const text = { type: 'string' };

describe('the comparison of two AsyncAPI documents', () => {
  it('finds nothing in a document that did not change', () => {
    const same = z.record(z.string(), z.unknown()).parse(JSON.parse(published));
    expect(messageBreaks(same, same)).toEqual([]);
  });

  it('accepts a new optional member', () => {
    expect(messageBreaks(message({ id: text }, ['id']), message({ id: text, note: text }, ['id']))).toEqual(
      [],
    );
  });

  it('finds a required member that messages in queues lack', () => {
    expect(
      messageBreaks(message({ id: text }, ['id']), message({ id: text, note: text }, ['id', 'note'])),
    ).toEqual(['order.created, read by the new release: note may be absent, but is required']);
  });

  it('finds a member that consumers of the last release still require', () => {
    expect(messageBreaks(message({ id: text }, ['id']), message({}, []))).toEqual([
      'order.created, read by the last release: id may be absent, but is required',
    ]);
  });

  it('finds a value that consumers of the last release reject', () => {
    const statuses = (...values: string[]) =>
      message({ status: { type: 'string', enum: values } }, ['status']);
    expect(messageBreaks(statuses('paid'), statuses('paid', 'held'))).toEqual([
      'order.created, read by the last release: status may be "held", which is not known',
    ]);
  });

  it('finds another pattern, except UUIDs of any version instead of those of RFC 9562', () => {
    const id = (pattern: string, format?: string) => message({ id: { ...text, format, pattern } }, ['id']);
    expect(messageBreaks(id('^a'), id('^b'))).toEqual([
      'order.created, read by the new release: id must match the pattern ^b',
      'order.created, read by the last release: id must match the pattern ^a',
    ]);
    expect(messageBreaks(id('^a', 'uuid'), id('^b', 'uuid'))).toHaveLength(2); // one for each release
    const [ofRfc = '', ofAny = ''] = [z.uuid(), z.guid()].map((schema) => z.toJSONSchema(schema).pattern);
    expect(messageBreaks(id(ofRfc, 'uuid'), id(ofAny, 'uuid'))).toEqual([]);
  });

  it('finds a new version of a message, since each release rejects the version of the other', () => {
    const version = (number: number) => message({ version: { type: 'number', const: number } }, ['version']);
    expect(messageBreaks(version(1), version(2))).toHaveLength(2);
  });

  it('accepts new values in messages that the suite only receives, but no removed ones', () => {
    const before = message({ status: { enum: ['sent'] } }, ['status'], 'receive');
    const after = message({ status: { enum: ['sent', 'lost'] } }, ['status'], 'receive');
    expect(messageBreaks(before, after)).toEqual([]);
    expect(messageBreaks(after, before)).toHaveLength(1);
  });
});
