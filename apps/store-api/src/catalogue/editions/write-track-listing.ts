import type { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { z } from 'zod';
import { type ProcessedTrack, trackListing } from './track-listing.rules.js';

/** The data of `track.processed`. */
export type ProcessedTrackData = z.output<(typeof messages.trackProcessed)['schema']>;

// Of two uploads of a track, the one that was registered later applies, whichever was processed first. So the
// column `processed_at` contains the time of registration, or the time of an older message without it.
const upsertProcessed = statement(
  'tracks.upsert-processed',
  `INSERT INTO processed_tracks AS known
     (release_id, track_id, title, position, duration_seconds, processed_at, first_processed_at)
   VALUES (:release_id, :track_id, :title, :position, :duration_seconds, :registered_at, :registered_at)
   ON CONFLICT (release_id, track_id) DO UPDATE SET
     first_processed_at = least(known.first_processed_at, excluded.first_processed_at),
     title = CASE WHEN known.processed_at < excluded.processed_at THEN excluded.title ELSE known.title END,
     position = CASE WHEN known.processed_at < excluded.processed_at THEN excluded.position ELSE known.position END,
     duration_seconds = CASE WHEN known.processed_at < excluded.processed_at
                        THEN excluded.duration_seconds ELSE known.duration_seconds END,
     processed_at = greatest(known.processed_at, excluded.processed_at)`,
);
const readProcessed = statement(
  'tracks.processed-of-release',
  'SELECT track_id, title, position, duration_seconds, first_processed_at AS first_registered_at FROM processed_tracks WHERE release_id = $1',
);
// Tracks without a `track_id` were loaded with the catalogue. They keep their positions.
const readProducts = statement(
  'tracks.products-of-release',
  `SELECT p.id, coalesce(array_agg(t.position) FILTER (WHERE t.position IS NOT NULL), '{}') AS catalogue_positions
   FROM products p LEFT JOIN tracks t ON t.product_id = p.id AND t.track_id IS NULL
   WHERE p.release_id = $1 GROUP BY p.id ORDER BY p.id`,
);
const deleteUploaded = statement(
  'tracks.delete-uploaded',
  'DELETE FROM tracks WHERE product_id = ANY($1::uuid[]) AND track_id IS NOT NULL',
);
const insertUploaded = statement(
  'tracks.insert-uploaded',
  `INSERT INTO tracks (product_id, track_id, position, title, duration_seconds, side)
   SELECT product_id, track_id, position, title, duration_seconds, NULL
   FROM json_to_recordset($1::json) AS t(product_id uuid, track_id uuid, position int, title text, duration_seconds int)`,
);

/**
 * Stores the newest version of a track, in any order of arrival, and rewrites the track listing of its
 * release. The caller holds the lock of the release.
 * @param messageTime time of the message, used if `registered_at` is missing
 */
export async function storeTrack(
  tx: Transaction,
  track: ProcessedTrackData,
  messageTime: string,
): Promise<void> {
  await tx.run(upsertProcessed, { ...track, registered_at: track.registered_at ?? messageTime });
  await rewriteTrackListing(tx, track.release_id);
}

/**
 * Replaces the uploaded tracks in the products of a release. Tracks may be processed before the release is
 * known, so this is also called after its products are written. The caller holds the lock of the release.
 */
export async function rewriteTrackListing(tx: Transaction, releaseId: string): Promise<void> {
  const products = await tx.rows<{ id: string; catalogue_positions: number[] }>(readProducts, [releaseId]);
  const tracks = await tx.rows<ProcessedTrack>(readProcessed, [releaseId]);
  if (products.length === 0 || tracks.length === 0) return;
  await tx.run(deleteUploaded, [products.map(({ id }) => id)]);
  const listed = products.flatMap(({ id, catalogue_positions }) =>
    trackListing(catalogue_positions, tracks).map((track) => ({ product_id: id, ...track })),
  );
  await tx.run(insertUploaded, [JSON.stringify(listed)]);
}
