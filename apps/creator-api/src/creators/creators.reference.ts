import type { OperationDoc } from '@fulfilment/api-reference';
import { numberedPageShape } from '@fulfilment/contracts';
import { creatorExample, creatorShape } from './creator.shapes.js';

const page = numberedPageShape(creatorShape, creatorExample);

export const listCreators = {
  id: 'listCreators',
  tag: 'Creators',
  summary: 'List creators',
  description:
    'The creators of your organisation, the newest first; a global admin sees those of all organisations. A caller of no organisation sees none.',
  answer: { description: 'A page of creators.', shape: page },
} as const satisfies OperationDoc<typeof page>;
