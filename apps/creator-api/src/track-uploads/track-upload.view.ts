import type { RegistrationView, TrackUploadView } from './track-upload.shapes.js';

/** SQL: the columns of a `TrackUploadRow`, with the names of the response. */
export const trackUploadColumns =
  'id, workflow_id, release_id, track_id AS track_uuid, status, audio, failure, created_at, updated_at';

export interface TrackUploadRow extends Omit<TrackUploadView, 'status_url' | 'created_at' | 'updated_at'> {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** @param baseUrl URL of the gateway */
export function registrationView(
  { id, status, workflow_id }: Pick<TrackUploadRow, 'id' | 'status' | 'workflow_id'>,
  baseUrl: string,
): RegistrationView {
  return { id, status, workflow_id, status_url: `${baseUrl}/creator/api/v1/track-uploads/${id}` };
}

export function trackUploadView(row: TrackUploadRow, baseUrl: string): TrackUploadView {
  return {
    ...row,
    ...registrationView(row, baseUrl),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
