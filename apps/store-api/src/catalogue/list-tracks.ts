import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { type ProcessedTrack, trackListing } from './track-listing.rules.js';

/** What `track.processed` says. */
export interface TrackFact {
  readonly release_id: string;
  readonly track_id: string;
  readonly title: string | null;
  readonly position: number | null;
  readonly duration_seconds: number;
  readonly registered_at?: string | undefined;
}

// Of two uploads of one track the one that was registered later holds, however long each was read. processed_at is when that was; messages from before
// they told it have the time of the fact.
const keep = statement(
  'tracks.keep',
  `INSERT INTO processed_tracks AS known
     (release_id, track_id, title, position, duration_seconds, processed_at, first_processed_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6)
   ON CONFLICT (release_id, track_id) DO UPDATE SET
     first_processed_at = least(known.first_processed_at, excluded.first_processed_at),
     title = CASE WHEN known.processed_at < excluded.processed_at THEN excluded.title ELSE known.title END,
     position = CASE WHEN known.processed_at < excluded.processed_at THEN excluded.position ELSE known.position END,
     duration_seconds = CASE WHEN known.processed_at < excluded.processed_at
                        THEN excluded.duration_seconds ELSE known.duration_seconds END,
     processed_at = greatest(known.processed_at, excluded.processed_at)`,
);
const processedOf = statement(
  'tracks.processed-of-release',
  'SELECT track_id, title, position, duration_seconds, first_processed_at FROM processed_tracks WHERE release_id = $1',
);
const productsOf = statement(
  'tracks.products-of-release',
  `SELECT p.id, coalesce(array_agg(t.position) FILTER (WHERE t.position IS NOT NULL), '{}') AS taken
   FROM products p LEFT JOIN tracks t ON t.product_id = p.id AND t.track_id IS NULL
   WHERE p.release_id = $1 GROUP BY p.id ORDER BY p.id`,
);
const clear = statement(
  'tracks.clear',
  'DELETE FROM tracks WHERE product_id = ANY($1::uuid[]) AND track_id IS NOT NULL',
);
const insert = statement(
  'tracks.insert',
  `INSERT INTO tracks (product_id, track_id, position, title, duration_seconds, side)
   SELECT product_id, track_id, position, title, duration_seconds, NULL
   FROM json_to_recordset($1::json) AS t(product_id uuid, track_id uuid, position int, title text, duration_seconds int)`,
);

/** The track listing of a release's products, from the audio that the Creator API has read. Its caller has the release to itself. */
@Injectable()
export class ListTracks {
  /** Takes a track, its newest version whatever the order they come in. @param processedAt when the fact happened */
  async take(tx: Transaction, track: TrackFact, processedAt: string): Promise<void> {
    await tx.run(keep, [
      track.release_id,
      track.track_id,
      track.title,
      track.position,
      track.duration_seconds,
      track.registered_at ?? processedAt,
    ]);
    await this.list(tx, track.release_id);
  }

  /** Lists what came before the release did. Call after its products are written. */
  async fillIn(tx: Transaction, releaseId: string): Promise<void> {
    await this.list(tx, releaseId);
  }

  private async list(tx: Transaction, releaseId: string): Promise<void> {
    const products = await tx.rows<{ id: string; taken: number[] }>(productsOf, [releaseId]);
    const tracks = await tx.rows<ProcessedTrack>(processedOf, [releaseId]);
    if (products.length === 0 || tracks.length === 0) return;
    await tx.run(clear, [products.map(({ id }) => id)]);
    const listed = products.flatMap(({ id, taken }) =>
      trackListing(taken, tracks).map((track) => ({ product_id: id, ...track })),
    );
    await tx.run(insert, [JSON.stringify(listed)]);
  }
}
