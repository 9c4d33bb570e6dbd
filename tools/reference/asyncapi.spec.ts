import { messages } from '@fulfilment/contracts';
import { jsonSchemaViolations } from '@fulfilment/testing/reference';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../dev/settings.ts';

interface AsyncApi {
  readonly channels: Readonly<Record<string, { readonly address: string }>>;
  readonly operations: Readonly<Record<string, { readonly action: string; readonly channel: object }>>;
  readonly components: { readonly messages: Readonly<Record<string, { readonly payload: object }>> };
}

const read = <Content>(file: string): Content => JSON.parse(readFileSync(file, 'utf8'));
const document = read<AsyncApi>(join(root, 'docs/reference/asyncapi.json'));

/** Whether a message has the documented shape. */
function isDocumented(type: string, message: object): boolean {
  return jsonSchemaViolations(document.components.messages[type]?.payload ?? {}, message).length === 0;
}

describe('the AsyncAPI document', () => {
  it('is AsyncAPI 3, by the schema of the specification', () => {
    const schema = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    expect(jsonSchemaViolations(read(schema), document)).toEqual([]);
  });

  it('has every message of the exchange, with its routing key', () => {
    const types = Object.values(messages)
      .map(({ type }) => type)
      .filter((type) => !type.startsWith('replay.'));
    expect(Object.values(document.channels).map(({ address }) => address)).toEqual(types);
    expect(Object.keys(document.components.messages)).toEqual(types);
    for (const [type, { channel }] of Object.entries(document.operations))
      expect(channel).toEqual({ $ref: `#/channels/${type}` });
    expect(Object.keys(document.operations)).toEqual(types);
  });

  it('has the action `receive` for messages of the warehouse and the operator, and `send` for all others', () => {
    const received = Object.entries(document.operations).filter(([, { action }]) => action === 'receive');
    const isFromOutside = (type: string): boolean => /^(fulfilment|catalogue)\./.test(type);
    expect(received.map(([type]) => type)).toEqual(Object.keys(document.operations).filter(isFromOutside));
    expect(received).not.toHaveLength(0);
  });

  it('has a schema that rejects a missing member, another version and another type', () => {
    const message = messages.fulfilmentDelivered.make({ order_id: 'ord_1' }, { occurredAt: new Date(0) });
    expect(isDocumented('fulfilment.delivered', message)).toBe(true);
    expect(isDocumented('fulfilment.delivered', { ...message, data: {} })).toBe(false);
    expect(isDocumented('fulfilment.delivered', { ...message, version: 2 })).toBe(false);
    expect(isDocumented('fulfilment.shipped', message)).toBe(false);
  });
});
