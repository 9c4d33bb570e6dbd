import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound, ValidationFailed } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { creatorExample } from '../creators/creator.shapes.js';
import { releaseShape } from './release.shapes.js';

export const createRelease = {
  id: 'createRelease',
  tag: 'Releases',
  summary: 'Create a release',
  description: [
    'Of the creator that the access token is connected to, or of the one that `creator` names. The Store shows it within seconds, as a `pending` release with one pending product; it can be ordered',
    'once it was approved and priced. Repeating the request creates another release, unless it has the same `idempotency-key`.',
  ].join(' '),
  body: {
    least: {
      summary: 'Of the connected creator, without an EAN',
      value: { title: 'Quiet Machinery', release_type_id: 1 },
    },
    complete: {
      summary: 'With an EAN, of one of your creators: `creator` is a `uuid` of their list',
      value: {
        title: 'Quiet Machinery',
        release_type_id: 1,
        ean: '5060123450017',
        creator: creatorExample.uuid,
      },
    },
  },
  answer: { description: 'The release.', shape: releaseShape, headers: ['Idempotent-Replayed'] },
  errors: [
    {
      when: 'Nobody says whose release it is: the token is not connected to a creator, and there is no `creator`.',
      example: new ValidationFailed([
        { field: 'creator', reason: 'must be given: the access token is not connected to a creator' },
      ]),
    },
    { when: 'You see no such creator.', example: new NotFound('creator') },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof releaseShape>;
