import type { AudioProperties } from './audio/audio-properties.js';
import type { RegistrationView, trackUploadStatuses, TrackUploadView } from './track-upload.shapes.js';
import type { UploadFailure } from './upload-failure.rules.js';

type TrackUploadStatus = (typeof trackUploadStatuses)[number];

export interface TrackUploadRow {
  id: string;
  workflow_id: string;
  release_id: string;
  track_id: string;
  status: TrackUploadStatus;
  audio: AudioProperties | null;
  failure: UploadFailure | null;
  created_at: Date;
  updated_at: Date;
}

/** @param baseUrl of the gateway */
export function registrationView(
  { id, status, workflow_id }: Pick<TrackUploadRow, 'id' | 'status' | 'workflow_id'>,
  baseUrl: string,
): RegistrationView {
  return { id, status, workflow_id, status_url: `${baseUrl}/creator/api/v1/track-uploads/${id}` };
}

export function trackUploadView(row: TrackUploadRow, baseUrl: string): TrackUploadView {
  return {
    ...registrationView(row, baseUrl),
    release_id: row.release_id,
    track_uuid: row.track_id,
    audio: row.audio,
    failure: row.failure,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
