import type { OperationDoc } from '@fulfilment/api-reference';
import { numberedPageShape } from '@fulfilment/contracts';
import { ValidationFailed } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { creatorExample } from '../creators/creator.shapes.js';
import {
  releaseSummaryExample,
  releaseSummaryShape,
  releaseDetailShape,
  releaseShape,
} from './release.shapes.js';
import { notVisible } from '../visibility/not-visible.js';

const page = numberedPageShape(releaseSummaryShape, releaseSummaryExample);

export const createRelease = {
  id: 'createRelease',
  tag: 'Releases',
  summary: 'Create a release',
  description: [
    'Creates a release of the creator that the access token is connected to, or of the creator in `creator`. The release appears in the Store API within seconds as `pending`, with one pending product. It can be ordered',
    'after the operator has approved and priced it. A repeated request creates another release, unless it has the same `idempotency-key`.',
  ].join(' '),
  body: {
    minimal: {
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
      when: 'No creator is named: the token is not connected to a creator, and `creator` is missing.',
      example: new ValidationFailed([
        { field: 'creator', reason: 'is required because the access token is not connected to a creator' },
      ]),
    },
    notVisible('creator'),
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof releaseShape>;

export const listReleases = {
  id: 'listReleases',
  tag: 'Releases',
  summary: "List a creator's releases",
  description:
    'Returns the releases that were created through this API, newest first, with the processing state of their tracks. Releases of the catalogue are in the Store API.',
  response: { description: 'A page of releases.', shape: page },
  errors: [notVisible('creator')],
} as const satisfies OperationDoc<typeof page>;

export const readRelease = {
  id: 'readRelease',
  tag: 'Releases',
  summary: 'Read a release',
  description: 'Returns a release that was created through this API, with the newest upload of each track.',
  response: { description: 'The release.', shape: releaseDetailShape },
  errors: [notVisible('release')],
} as const satisfies OperationDoc<typeof releaseDetailShape>;
