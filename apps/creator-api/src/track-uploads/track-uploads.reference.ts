import type { OperationDoc } from '@fulfilment/api-reference';
import { Conflict, NotFound, ValidationFailed } from '@fulfilment/error-envelope';
import {
  registrationExample,
  registrationShape,
  trackUploadExample,
  trackUploadShape,
} from './track-upload.shapes.js';

const tag = 'Track uploads';

export const registerTrackUpload = {
  id: 'registerTrackUpload',
  tag,
  summary: 'Register the audio of a track',
  description: [
    'The audio is fetched and read in the background: WAV, AIFF, FLAC, MP3, AAC or M4A of at least 10 seconds. When it was, the Store lists the track.',
    'The same release, track and URL while that upload is not over is the same registration.',
  ].join(' '),
  body: {
    track: {
      value: {
        track_uuid: trackUploadExample.track_uuid,
        upload_url: 'https://files.example.com/slow-signal.wav',
      },
    },
  },
  answer: {
    description: 'It was registered, now or before.',
    shape: registrationShape,
    headers: ['Location'],
    location: registrationExample.status_url,
  },
  errors: [
    {
      when: 'The `upload_url` may not be called: it is no https URL, or leads to an address that is not public.',
      example: new ValidationFailed([
        { field: 'upload_url', reason: 'must not resolve to a private or reserved address' },
      ]),
    },
    { when: 'There is no such release, or not for you.', example: new NotFound('release') },
    {
      when: 'The creator has 1000 uploads that are not over, or the release 500 tracks.',
      example: new Conflict('The creator has 1000 track uploads that are not over. Wait for them first.'),
    },
  ],
} as const satisfies OperationDoc<typeof registrationShape>;

export const readTrackUpload = {
  id: 'readTrackUpload',
  tag,
  summary: 'Read a track upload',
  description: 'What became of it: what the file is once it was read, or why it failed.',
  answer: { description: 'The upload.', shape: trackUploadShape },
  errors: [{ when: 'There is no such upload, or not for you.', example: new NotFound('track upload') }],
} as const satisfies OperationDoc<typeof trackUploadShape>;
