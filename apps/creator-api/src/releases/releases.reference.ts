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
    'Creates a release of the creator that the access token is connected to, or of the creator in `creator`. The release appears in the Store within seconds as `pending`, with one pending product. It can be ordered',
    'after it is approved and priced. A repeated request creates another release, unless it has the same `idempotency-key`.',
  ].join(' '),
  body: {
    least: {
      summary: 'For the connected creator, without an EAN',
      value: { title: 'Quiet Machinery', release_type_id: 1 },
    },
    complete: {
      summary: 'With an EAN, for one of your creators: `creator` is a `uuid` from the list of creators',
      value: {
        title: 'Quiet Machinery',
        release_type_id: 1,
        ean: '5060123450017',
        creator: creatorExample.uuid,
      },
    },
  },
  response: { description: 'The created release.', shape: releaseShape, headers: ['Idempotent-Replayed'] },
  errors: [
    {
      when: 'The creator is unknown: the token is not connected to a creator, and `creator` is missing.',
      example: new ValidationFailed([
        { field: 'creator', reason: 'is required because the access token is not connected to a creator' },
      ]),
    },
    { when: 'The creator does not exist, or is not visible to you.', example: new NotFound('creator') },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof releaseShape>;
