import { z } from 'zod';
import { uuid } from '../ids.js';
import { defineMessage } from './message.js';

/**
 * What an app may no longer do. `occurred_at` is the moment: access that was given before it is over, access that is given after it is
 * new, whenever the message comes.
 */
export const clientMessages = {
  clientDeleted: defineMessage(
    'client.deleted',
    1,
    'An OAuth client was deleted, and with it everything it was allowed.',
    z.object({ client_id: z.string() }),
  ),
  clientDisconnected: defineMessage(
    'client.disconnected',
    1,
    'The last person through whom a third-party client was connected to a creator disconnected it, left the organisation, or was disabled.',
    z.object({ client_id: z.string(), creator_id: uuid }),
  ),
} as const;
