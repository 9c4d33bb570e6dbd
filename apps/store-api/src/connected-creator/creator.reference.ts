import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound } from '@fulfilment/error-envelope';
import { connectedCreatorShape } from './creator.shapes.js';

export const readCreator = {
  id: 'readConnectedCreator',
  tag: 'Creator',
  summary: 'Read the connected creator',
  description:
    'Returns the creator that the access token is authorised for, and whether their orders can be charged.',
  response: { description: 'The creator.', shape: connectedCreatorShape },
  errors: [{ when: 'The token is not connected to a creator.', example: new NotFound('connected creator') }],
} as const satisfies OperationDoc<typeof connectedCreatorShape>;
