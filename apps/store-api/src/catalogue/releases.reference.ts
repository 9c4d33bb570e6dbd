import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { NotFound } from '@fulfilment/error-envelope';
import { z } from 'zod';
import {
  detailedReleaseShape,
  releaseFactsExample,
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
  description: "The connected creator's releases, the newest first.",
  answer: {
    description: 'A page of releases, as summaries or in detail.',
    shape: page,
    headers: ['ETag'],
    examples: {
      summary: { summary: '`format=summary`', value: { data: [releaseSummaryExample], pagination } },
      detailed: {
        summary: '`format=detailed`',
        value: { data: [{ ...releaseSummaryExample, ...releaseFactsExample }], pagination },
      },
    },
  },
} satisfies OperationDoc<typeof page>;

export const readRelease = {
  id: 'readRelease',
  tag,
  summary: 'Read a release',
  path: { id: { description: 'The release', example: 'prod_01m7xwmwnzc4r8e7k2v5g0ts6p' } },
  answer: { description: 'The release in full.', shape: releaseShape, headers: ['ETag'] },
  errors: [
    { when: "There is no such release, or it is another creator's.", example: new NotFound('release') },
  ],
} as const satisfies OperationDoc<typeof releaseShape>;
