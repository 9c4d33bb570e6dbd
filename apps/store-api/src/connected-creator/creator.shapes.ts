import { idShape } from '@fulfilment/contracts';
import { z } from 'zod';

export const connectedCreatorShape = z
  .object({
    id: idShape('crt', 'The creator'),
    name: z.string().nullable().describe('Their name; null when not known'),
    billing_status: z
      .object({
        payment_method_added: z.boolean().describe('Whether there is one; without, orders are 422'),
        tax_interview_completed: z.boolean().describe('Whether the tax questions were answered'),
        payment_terms_accepted: z.boolean().describe('Whether they were; if not, orders are 422'),
      })
      .describe('Whether orders can be paid for'),
  })
  .meta({
    id: 'ConnectedCreator',
    description: 'The creator an access token is connected to.',
    examples: [
      {
        id: 'crt_01m7xwmwm1a4x9rj6sy8c2ntqe',
        name: 'Harbour Lights',
        billing_status: {
          payment_method_added: true,
          tax_interview_completed: true,
          payment_terms_accepted: true,
        },
      },
    ],
  });
export type ConnectedCreatorView = z.infer<typeof connectedCreatorShape>;
