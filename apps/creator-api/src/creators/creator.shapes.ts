import { z } from 'zod';

export const creatorExample = {
  uuid: '019a7f2e-9f01-7a4b-8c3d-5e6f70819203',
  org_id: 'org_harbour',
};

export const creatorShape = z
  .object({
    uuid: z.uuid().describe('The creator'),
    org_id: z.string().describe('The organisation that the creator belongs to'),
    livemode: z
      .literal(false)
      .optional()
      .describe('`false` for a test creator: its figures are those of test orders. Absent for live creators'),
  })
  .meta({
    id: 'Creator',
    description: 'A creator that is visible to the caller.',
    examples: [creatorExample],
  });
export type CreatorView = z.infer<typeof creatorShape>;
