import { z } from 'zod';
import { creatorSnapshot } from './creator-messages.js';
import { defineMessage } from './message.js';
import { orderSnapshot } from './order-messages.js';

/**
 * Messages for a consumer that rebuilds its read models (ADR 18). They are sent directly to its queue, never
 * to the exchange, so no other consumer receives them.
 */
export const replayMessages = {
  replayCreator: defineMessage(
    'replay.creator',
    'The current state of a creator, for a replay to creator-api.',
    z.object({ creator: creatorSnapshot }),
  ),
  replayOrder: defineMessage(
    'replay.order',
    'The current state of an order, for a replay to creator-api.',
    z.object({ order: orderSnapshot }),
  ),
} as const;
