import { z } from 'zod';
import { uuid } from '../ids.js';
import { currencies } from '../money.js';
import { paymentMethodIdPattern } from '../states.js';
import { maxTrackPosition, maxTrackSeconds } from '../tracks.js';
import { defineMessage } from './message.js';

const app = z.object({
  client_id: z.string(),
  name: z.string().nullable(),
  first_party: z.boolean(),
  connected_at: z.iso.datetime().nullable().describe('Null for a first-party app, which needs no consent'),
});

/** A creator's registration at the time of the message; `version` only increases. */
export const creatorSnapshot = z.object({
  id: uuid,
  version: z.int().min(1),
  organisation_id: z.string(),
  name: z.string().nullable(),
  payment_method: z
    .string()
    .regex(paymentMethodIdPattern)
    .nullable()
    .describe(
      'Id of the payment method at the payment provider. In the sandbox, `pm_ok`, `pm_declined` and `pm_timeout` decide the outcome of a charge',
    ),
  payment_terms_accepted: z.boolean(),
  tax_interview_completed: z.boolean(),
  settlement_currency: z.enum(currencies),
  registered_at: z.iso.datetime(),
  test: z
    .boolean()
    .optional()
    .describe('True for a test creator: its orders move no money, and no warehouse receives them'),
  apps: z
    .array(app)
    .optional()
    .describe(
      'First-party apps, and those that people have connected to the creator, at most 200 of each; absent in messages of earlier versions of auth-server',
    ),
});
export type CreatorSnapshot = z.infer<typeof creatorSnapshot>;

const creatorData = z.object({ creator: creatorSnapshot });

/** A release that was created through the Creator API. */
const editionSnapshot = z.object({
  id: uuid,
  creator_id: uuid,
  title: z.string(),
  release_type_id: z.int(),
  ean: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export type EditionSnapshot = z.infer<typeof editionSnapshot>;

export const creatorMessages = {
  creatorRegistered: defineMessage('creator.registered', 'A creator was registered.', creatorData),
  creatorChanged: defineMessage('creator.changed', "A creator's registration changed.", creatorData),
  editionCreated: defineMessage(
    'edition.created',
    'A creator created a release.',
    z.object({ edition: editionSnapshot }),
  ),
  trackProcessed: defineMessage(
    'track.processed',
    'The audio of a track was analysed.',
    z.object({
      release_id: uuid,
      track_id: uuid,
      title: z.string().nullable(),
      position: z.int().min(1).max(maxTrackPosition).nullable(),
      duration_seconds: z.int().min(0).max(maxTrackSeconds),
      registered_at: z.iso
        .datetime()
        .optional()
        .describe(
          'When the upload was registered. If a track has several uploads, the latest registration wins, in whatever order they are processed',
        ),
    }),
  ),
} as const;
