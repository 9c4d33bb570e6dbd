import { messages, parseMessage } from '@fulfilment/contracts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { publishedTexts } from './published-messages.js';

const released = z
  .object({ components: z.object({ messages: z.record(z.string(), z.unknown()) }) })
  .parse(
    JSON.parse(
      readFileSync(
        join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'released', 'asyncapi.json'),
        'utf8',
      ),
    ),
  );

describe('the published messages', () => {
  const texts = publishedTexts();

  it.each([...texts])('include %s, which the current consumers can read', (file, text) => {
    const { type, version } = parseMessage(text);
    expect(file).toBe(`${type}.v${version}.json`);
  });

  it('include every current type in its current version', () => {
    const files = Object.values(messages).map(({ type, version }) => `${type}.v${version}.json`);
    expect([...texts.keys()]).toEqual(expect.arrayContaining(files));
  });

  it('include every type of the last release', () => {
    const types = new Set([...texts.keys()].map((file) => file.replace(/\.v\d+\.json$/, '')));
    expect(Object.keys(released.components.messages).filter((type) => !types.has(type))).toEqual([]);
  });
});
