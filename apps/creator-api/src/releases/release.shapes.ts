import { z } from 'zod';
import { trackUploadExample, trackUploadShape } from '../track-uploads/track-upload.shapes.js';

export const releaseExample = {
  id: '019a7f2e-0c11-7d22-8e33-4f5566778899',
  title: 'Quiet Machinery',
  release_type_id: 1,
  ean: '5060123450017',
  created_at: '2026-11-20T10:15:30.000Z',
};

/** The members that all views of a release share. */
const sharedMembers = {
  id: z.uuid().describe('The release'),
  title: z.string().describe('The title, trimmed and in Unicode normalisation form C'),
  release_type_id: z.int().min(1).max(8).nullable().describe('Release type, as in the request'),
  ean: z.string().nullable().describe('The EAN; null if there is none'),
  created_at: z.iso.datetime().nullable().describe('When the release was created'),
};

export const releaseShape = z.object(sharedMembers).meta({
  id: 'Release',
  description: 'A release (edition) that was created.',
  examples: [releaseExample],
});
export type ReleaseView = z.infer<typeof releaseShape>;

const trackCount = (state: string) =>
  z.int().min(0).describe(`Number of tracks whose newest upload ${state}`);

const summaryMembers = {
  ...sharedMembers,
  creator: z.uuid().describe('The creator of the release'),
  tracks: z
    .object({
      pending: trackCount('is waiting'),
      processing: trackCount('is being processed'),
      completed: trackCount('was analysed'),
      failed: trackCount('failed'),
    })
    .describe(
      'Processing state of the tracks, by their newest upload. An upload counts until it is deleted, by default 90 days after it ended',
    ),
};

export const releaseSummaryExample = {
  ...releaseExample,
  creator: '019a7f2e-9f01-7a4b-8c3d-5e6f70819203',
  tracks: { pending: 0, processing: 0, completed: 1, failed: 0 },
};

export const releaseSummaryShape = z.object(summaryMembers).meta({
  id: 'ReleaseSummary',
  description: 'A release as returned in lists, with the processing state of its tracks.',
  examples: [releaseSummaryExample],
});
export type ReleaseSummary = z.infer<typeof releaseSummaryShape>;

/** A release shows the newest uploads of at most this many tracks. */
export const maxShownTracks = 500;

export const releaseDetailShape = z
  .object({
    ...summaryMembers,
    track_uploads: z
      .array(trackUploadShape)
      .max(maxShownTracks)
      .describe('The newest upload of each track, the newest first; at most 500 tracks'),
  })
  .meta({
    id: 'ReleaseDetail',
    description: 'A release with the processing state of each of its tracks.',
    examples: [{ ...releaseSummaryExample, track_uploads: [trackUploadExample] }],
  });
export type ReleaseDetail = z.infer<typeof releaseDetailShape>;
