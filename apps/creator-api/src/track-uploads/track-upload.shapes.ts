import { z } from 'zod';
import { audioProperties } from './audio/audio-properties.js';
import { uploadFailureCodes } from './upload-failure.rules.js';

const trackUploadStatuses = ['pending', 'processing', 'completed', 'failed'] as const;

export const registrationExample = {
  id: '019a7f30-1122-7334-8556-778899aabbcc',
  status: 'pending' as const,
  workflow_id: '019a7f30-1122-7445-9667-8899aabbccdd',
  status_url: 'https://localhost:8443/creator/api/v1/track-uploads/019a7f30-1122-7334-8556-778899aabbcc',
};

const registrationMembers = {
  id: z.uuid().describe('The id of the track upload'),
  status: z
    .enum(trackUploadStatuses)
    .describe('`pending` until processing starts, then `processing`; `completed` and `failed` are final'),
  workflow_id: z.uuid().describe('The job that downloads and analyses the audio'),
  status_url: z.url().describe('URL that returns the status of the upload'),
};

export const registrationShape = z.object(registrationMembers).meta({
  id: 'TrackUploadRegistration',
  description: 'A registered track upload.',
  examples: [registrationExample],
});
export type RegistrationView = z.infer<typeof registrationShape>;

export const trackUploadExample = {
  ...registrationExample,
  status: 'completed' as const,
  release_id: '019a7f2e-0c11-7d22-8e33-4f5566778899',
  track_uuid: '5f0c8a52-6d0e-4a0e-9a5b-2a6a3c9d1e10',
  audio: {
    container: 'WAV',
    codec: 'PCM',
    sample_rate: 44_100,
    bit_depth: 16,
    channels: 2,
    duration_seconds: 214.027,
    loudness: null,
  },
  failure: null,
  created_at: '2026-11-20T10:15:30.000Z',
  updated_at: '2026-11-20T10:15:42.000Z',
};

const failure = z
  .object({
    code: z.enum(uploadFailureCodes).describe('Machine-readable code; stable, branch on it'),
    message: z.string().describe('Human-readable message; not stable'),
  })
  .meta({
    id: 'TrackUploadFailure',
    description: 'Why a track upload failed.',
    examples: [{ code: 'too_short', message: 'The audio is shorter than 10 seconds.' }],
  });

export const trackUploadShape = z
  .object({
    ...registrationMembers,
    release_id: z.uuid().describe('The release of the track'),
    track_uuid: z.guid().describe('Your own id of the track'),
    audio: audioProperties
      .nullable()
      .describe('Properties of the audio file; null unless `status` is `completed`'),
    failure: failure.nullable().describe('Failure reason; null unless `status` is `failed`'),
    created_at: z.iso.datetime().describe('When the upload was registered'),
    updated_at: z.iso.datetime().describe('When the upload last changed'),
  })
  .meta({ id: 'TrackUpload', description: 'Status of a track upload.', examples: [trackUploadExample] });
export type TrackUploadView = z.infer<typeof trackUploadShape>;
