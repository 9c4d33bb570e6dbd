import type { OperationDoc } from '@fulfilment/api-reference';
import { Conflict, ValidationFailed } from '@fulfilment/error-envelope';
import {
  registrationExample,
  registrationShape,
  trackUploadExample,
  trackUploadShape,
} from './track-upload.shapes.js';
import { notVisible } from '../visibility/not-visible.js';

const tag = 'Track uploads';

export const registerTrackUpload = {
  id: 'registerTrackUpload',
  tag,
  summary: 'Register the audio of a track',
  description: [
    'The service downloads and analyses the audio in the background: WAV, AIFF, FLAC, MP3, AAC or M4A of at least 10 seconds. The Store lists the track when the upload has completed.',
    'A request with the release, track and URL of an upload that is still in progress returns that upload.',
  ].join(' '),
  body: {
    track: {
      value: {
        track_uuid: trackUploadExample.track_uuid,
        upload_url: 'https://files.example.com/slow-signal.wav',
      },
    },
  },
  response: {
    description: 'The upload, registered by this request or by an earlier one.',
    shape: registrationShape,
    headers: ['Location'],
    location: registrationExample.status_url,
  },
  errors: [
    {
      when: 'The `upload_url` is not allowed: it is not an https URL, or its host does not have a public address.',
      example: new ValidationFailed([
        { field: 'upload_url', reason: 'must not resolve to a private or reserved address' },
      ]),
    },
    notVisible('release'),
    {
      when: 'The creator has 1000 uploads in progress, or the release has 500 tracks or 5000 uploads (ended ones included).',
      example: new Conflict(
        'The creator already has 1000 track uploads in progress. Wait until some have completed.',
      ),
    },
  ],
} as const satisfies OperationDoc<typeof registrationShape>;

export const readTrackUpload = {
  id: 'readTrackUpload',
  tag,
  summary: 'Read a track upload',
  description:
    'Returns the status of the upload, with the properties of the audio file or the failure reason.',
  response: { description: 'The track upload.', shape: trackUploadShape },
  errors: [notVisible('track upload')],
} as const satisfies OperationDoc<typeof trackUploadShape>;
