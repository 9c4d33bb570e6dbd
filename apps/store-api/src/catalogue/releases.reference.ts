import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { NotFound } from '@fulfilment/error-envelope';
import { z } from 'zod';
import {
  detailedReleaseShape,
  releaseDetailsExample,
  releaseShape,
  releaseSummaryExample,
  releaseSummaryShape,
} from './release.shapes.js';

const tag = 'Releases';
const pagination = { next_cursor: null, has_more: false };
const page = cursorPageShape(z.union([releaseSummaryShape, detailedReleaseShape]), releaseSummaryExample);

export const listReleases = {
  id: 'listReleases',
  tag,
  summary: 'List releases',
  description: 'Returns the releases of the connected creator, newest first.',
  response: {
    description: 'A page of releases, in the requested format.',
    shape: page,
    headers: ['ETag'],
    examples: {
      summary: { summary: '`format=summary`', value: { data: [releaseSummaryExample], pagination } },
      detailed: {
        summary: '`format=detailed`',
        value: { data: [{ ...releaseSummaryExample, ...releaseDetailsExample }], pagination },
      },
    },
  },
} satisfies OperationDoc<typeof page>;

export const readRelease = {
  id: 'readRelease',
  tag,
  summary: 'Read a release',
  path: { id: { description: 'The release', example: 'prod_01m7xwmwnzc4r8e7k2v5g0ts6p' } },
  response: { description: 'The release.', shape: releaseShape, headers: ['ETag'] },
  errors: [
    { when: 'The release does not exist, or belongs to another creator.', example: new NotFound('release') },
  ],
} as const satisfies OperationDoc<typeof releaseShape>;
