import { z } from 'zod';
import { creatorSnapshot } from './creator-messages.js';
import { defineMessage } from './message.js';
import { orderSnapshot } from './order-messages.js';

/**
 * What is told again to one consumer that makes its read models anew (ADR 18). These never go to the exchange: nobody else hears them, and
 * no binding of the catalogue takes them.
 */
export const replayMessages = {
  replayCreator: defineMessage(
    'replay.creator',
    1,
    'A creator as it stands, told again to creator-api alone.',
    z.object({ creator: creatorSnapshot }),
  ),
  replayOrder: defineMessage(
    'replay.order',
    1,
    'An order as it stands, told again to creator-api alone.',
    z.object({ order: orderSnapshot }),
  ),
} as const;
