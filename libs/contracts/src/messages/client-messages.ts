import { z } from 'zod';
import { uuid } from '../ids.js';
import { defineMessage } from './message.js';

/** Each message revokes access that was granted before `occurred_at`, however late the message arrives. */
export const clientMessages = {
  clientDeleted: defineMessage(
    'client.deleted',
    'An OAuth client was deleted, together with all its access.',
    z.object({ client_id: z.string() }),
  ),
  clientDisconnected: defineMessage(
    'client.disconnected',
    'A third-party client lost its connection to a creator: no person allows it any longer, or the client changed its name, redirect host or type.',
    z.object({ client_id: z.string(), creator_id: uuid }),
  ),
} as const;
