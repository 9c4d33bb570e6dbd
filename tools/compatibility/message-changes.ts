import { z } from 'zod';
import { type Document, rejections, type Tolerance } from './json-schema.ts';

const asyncApi = z.looseObject({
  operations: z.record(z.string(), z.looseObject({ action: z.enum(['send', 'receive']) })),
  components: z.looseObject({
    messages: z.record(z.string(), z.looseObject({ payload: z.unknown() })),
  }),
});

/** A consumer ignores unknown members, and rejects unknown values of an enumeration. */
const consumer: Tolerance = { newValues: 'rejected', unknownMembers: 'accepted' };

/**
 * Compares the AsyncAPI documents of two releases. During a roll-out, and while queues hold messages, the
 * services of each release read the messages of the other. Members may be added.
 */
export function messageBreaks(released: Document, current: Document): string[] {
  const [releasedApi, currentApi] = [asyncApi.parse(released), asyncApi.parse(current)];
  return Object.entries(releasedApi.components.messages).flatMap(([type, before]) => {
    const after = currentApi.components.messages[type];
    if (after === undefined) return [`${type} was removed`];
    const [earlier, later] = [
      { document: released, schema: before.payload },
      { document: current, schema: after.payload },
    ];
    return [
      ...rejections(earlier, later, consumer).map((found) => `${type}, read by the new release: ${found}`),
      // Messages with the action `receive` come from outside the suite. A roll-out does not change what is
      // sent, so the last release receives none of the new schema.
      ...(releasedApi.operations[type]?.action === 'receive'
        ? []
        : rejections(later, earlier, consumer).map((found) => `${type}, read by the last release: ${found}`)),
    ];
  });
}
