import type { MigrationInterface, QueryRunner } from 'typeorm';
import { showRowsOfOwnCreators } from './row-security.js';

// Catalogue releases are known here by their orders alone; a release never changes hands.
const releasesOfOrders = `
  CREATE TABLE ordered_releases (
    release_id uuid PRIMARY KEY,
    creator_id uuid NOT NULL
  );
  INSERT INTO ordered_releases SELECT DISTINCT ON (release_id) release_id, creator_id FROM order_items
    ORDER BY release_id, creator_id;
`;

const uploads = `
  CREATE TABLE track_uploads (
    id uuid PRIMARY KEY,
    -- The name of its job in BullMQ.
    workflow_id uuid NOT NULL UNIQUE,
    creator_id uuid NOT NULL,
    release_id uuid NOT NULL,
    track_id uuid NOT NULL,
    -- Often a signed address, which is a secret: forgotten when the upload is over.
    upload_url text,
    status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    -- How often it was begun, and how many of these runs failed by something that may pass.
    runs int NOT NULL DEFAULT 0,
    failed_runs int NOT NULL DEFAULT 0,
    -- While nobody is at work and it is not over: when it is due.
    due_at timestamptz,
    -- Whose it is while somebody is at work.
    lease_token uuid,
    lease_until timestamptz,
    audio jsonb,
    failure jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((status IN ('pending', 'processing')) = (upload_url IS NOT NULL)),
    CHECK ((status = 'completed') = (audio IS NOT NULL)),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
    CHECK (num_nonnulls(due_at, lease_until) = CASE WHEN status IN ('pending', 'processing') THEN 1 ELSE 0 END)
  ) WITH (fillfactor = 80);
  -- A URL may be longer than an index takes. Who makes two URLs of one md5 hinders nobody but themselves.
  CREATE UNIQUE INDEX track_uploads_once ON track_uploads (release_id, track_id, md5(upload_url))
    WHERE status IN ('pending', 'processing');
  CREATE INDEX track_uploads_open ON track_uploads (creator_id) WHERE status IN ('pending', 'processing');
  CREATE INDEX track_uploads_of_release ON track_uploads (release_id, track_id);
  CREATE INDEX track_uploads_not_over ON track_uploads (id)
    WHERE status IN ('pending', 'processing');
`;

// A request registers; everything after that is the work of the service itself.
const grants = `
  GRANT INSERT ON track_uploads TO creator_api_member, creator_api_operator;
`;

export class TrackUploads1763600000004 implements MigrationInterface {
  readonly name = 'TrackUploads1763600000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(releasesOfOrders);
    await runner.query(uploads);
    await runner.query(showRowsOfOwnCreators('ordered_releases'));
    await runner.query(showRowsOfOwnCreators('track_uploads'));
    await runner.query(grants);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE track_uploads, ordered_releases');
  }
}
