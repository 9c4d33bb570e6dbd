import type { OperationDoc } from '@fulfilment/api-reference';
import { numberedPageShape } from '@fulfilment/contracts';
import { creatorExample, creatorShape } from './creator.shapes.js';

const page = numberedPageShape(creatorShape, creatorExample);

export const listCreators = {
  id: 'listCreators',
  tag: 'Creators',
  summary: 'List creators',
  description:
    'Returns the creators of your organisation, newest first. A global admin sees the creators of all organisations; a caller without an organisation sees none.',
  response: { description: 'A page of creators.', shape: page },
} as const satisfies OperationDoc<typeof page>;
