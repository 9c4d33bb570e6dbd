import { z } from 'zod';

export const releaseShape = z
  .object({
    id: z.uuid().describe('The release'),
    title: z.string().describe('The title, trimmed and in Unicode normalisation form C'),
    release_type_id: z.int().min(1).max(8).nullable().describe('Release type, as in the request'),
    ean: z.string().nullable().describe('The EAN; null if there is none'),
    created_at: z.iso.datetime().nullable().describe('When the release was created'),
  })
  .meta({
    id: 'Release',
    description: 'A release (edition) that was created.',
    examples: [
      {
        id: '019a7f2e-0c11-7d22-8e33-4f5566778899',
        title: 'Quiet Machinery',
        release_type_id: 1,
        ean: '5060123450017',
        created_at: '2026-11-20T10:15:30.000Z',
      },
    ],
  });
export type ReleaseView = z.infer<typeof releaseShape>;
