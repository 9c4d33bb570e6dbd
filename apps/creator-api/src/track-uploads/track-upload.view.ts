import type { AudioFacts } from './audio/audio-facts.js';
import type { UploadFailure } from './upload-failure.rules.js';

export type TrackUploadStatus = 'pending' | 'processing' | 'completed' | 'failed';

export interface TrackUploadRow {
  id: string;
  workflow_id: string;
  release_id: string;
  track_id: string;
  status: TrackUploadStatus;
  audio: AudioFacts | null;
  failure: UploadFailure | null;
  created_at: Date;
  updated_at: Date;
}

export interface RegistrationView {
  readonly id: string;
  readonly status: TrackUploadStatus;
  readonly workflow_id: string;
  readonly status_url: string;
}

export interface TrackUploadView extends RegistrationView {
  readonly release_id: string;
  readonly track_uuid: string;
  /** What the file is; null until it was read. */
  readonly audio: AudioFacts | null;
  /** Why it ended without; null unless it failed. */
  readonly failure: UploadFailure | null;
  readonly created_at: string;
  readonly updated_at: string;
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
