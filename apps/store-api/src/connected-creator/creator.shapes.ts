import { idShape } from '@fulfilment/contracts';
import { z } from 'zod';

export const connectedCreatorShape = z
  .object({
    id: idShape('crt', 'The id of the creator'),
    name: z.string().nullable().describe('Name of the creator; null if unknown'),
    billing_status: z
      .object({
        payment_method_added: z
          .boolean()
          .describe('Whether the creator has a payment method. Without one, placing an order returns 422'),
        tax_interview_completed: z.boolean().describe('Whether the creator has completed the tax interview'),
        payment_terms_accepted: z
          .boolean()
          .describe(
            'Whether the creator has accepted the payment terms. Otherwise, placing an order returns 422',
          ),
      })
      .describe('Billing setup of the creator. Orders need a payment method and accepted payment terms'),
    livemode: z.literal(false).optional().describe('`false` for a test creator. Absent for live creators'),
  })
  .meta({
    id: 'ConnectedCreator',
    description: 'The creator that an access token is authorised for.',
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
