import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound, RateLimited, ValidationFailed } from '@fulfilment/error-envelope';
import { feedPageShape } from './feed.shapes.js';

export const readEvents = {
  id: 'readEvents',
  tag: 'Events',
  summary: 'Read the event feed',
  description: [
    'Returns the events of the connected creator, with the ids and bodies that webhooks have, for receivers without a public address. No subscription is needed. The first request starts the feed of the creator.',
    'It then contains all events of the creator, and keeps them for 30 days.\n\nSave `next` once you have handled the events, and send it as `after`. With `wait`, a request waits for the next event, up to this time;',
    'if there is none, `data` is empty. A repeated request with the same `after` returns the same events, and newer ones, so handle each `id` once, as with webhooks. A feed that is not read for 30 days ends, and its positions are rejected from then on.',
  ].join(' '),
  response: { description: 'The next events.', shape: feedPageShape },
  errors: [
    {
      when: '`after` is not a position of this feed, or the feed has ended since then. Read it without `after`.',
      example: new ValidationFailed([{ field: 'after', reason: 'is not a position of this feed' }]),
    },
    { when: 'The access token is not connected to a creator.', example: new NotFound('creator') },
    {
      when: '4 requests of your client for this creator are waiting, or 20 of all clients.',
      example: new RateLimited(1),
    },
  ],
} satisfies OperationDoc<typeof feedPageShape>;
