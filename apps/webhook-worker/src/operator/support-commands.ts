import { isUuid, nilUuid, parsePublicId, publicId } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { defineCommand, limitArgument, textArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { BulkUpdateRequests } from '../subscriptions/bulk-update-requests.js';
import { deletionStatement, markDeleted } from '../subscriptions/mark-deleted.js';

/** The other columns are printed unchanged. */
interface Row {
  readonly id: string;
  readonly creator_id: string;
}

const pageStatement = (name: string, condition: string) =>
  statement(
    name,
    `SELECT id, creator_id, client_id, url, events, status, consecutive_failures, created_at, last_delivery_at, last_failure_at,
       disabled_at, disabled_reason, deleted_at, deleted_reason
     FROM webhook_subscriptions
     WHERE creator_id = $1 AND ($2::text IS NULL OR client_id = $2) AND id > $3${condition} ORDER BY id LIMIT $4`,
  );
const pageOfExisting = pageStatement('support.list', ' AND deleted_at IS NULL');
const pageWithDeleted = pageStatement('support.list-all', '');
const deleteById = deletionStatement('support.delete', 'id = $2');

/** Accepts a UUID or a public id of the Store API. Returns the UUID. */
const idArgument = (prefix: 'whk' | 'crt') =>
  z.string('is missing').transform((typed, context) => {
    const id = isUuid(typed.toLowerCase()) ? typed.toLowerCase() : parsePublicId(prefix, typed);
    if (id === undefined) context.addIssue(`must be a ${prefix}_ id or a UUID`);
    return id ?? z.NEVER;
  });

/** Operator commands for support: list the subscriptions of a creator, and delete one. */
export const supportCommands = {
  'webhooks list': defineCommand({
    summary: 'lists the webhook subscriptions of a creator; --deleted adds deleted ones, with the reason',
    options: ['--creator <CREATOR>', '--client <CLIENT>', '--deleted', '--limit <NUMBER>', '--after <ID>'],
    arguments: z.object({
      creator: idArgument('crt'),
      client: textArgument().optional(),
      deleted: z.boolean().optional(),
      after: idArgument('whk').optional(),
      limit: limitArgument(),
    }),
    /** Lists the oldest first, without secrets. `next` is the value of `--after` for the next page. */
    run: async (
      { database }: { readonly database: Database },
      { creator, client, after = nilUuid, deleted = false, limit },
    ) => {
      const page = deleted ? pageWithDeleted : pageOfExisting;
      const rows = await database.rows<Row>(page, [creator, client, after, limit + 1]);
      const subscriptions = rows.slice(0, limit).map(({ id, creator_id: creatorId, ...rest }) => ({
        id: publicId('whk', id),
        creator: publicId('crt', creatorId),
        ...rest,
      }));
      return { subscriptions, next: rows.length > limit ? subscriptions.at(-1)?.id : null };
    },
  }),
  'webhooks delete': defineCommand({
    summary: 'deletes a webhook subscription (support)',
    options: ['--id <ID>'],
    arguments: z.object({ id: idArgument('whk') }),
    run: async ({ database }: { readonly database: Database }, { id: uuid }) => {
      const deleted = await database.transaction((tx) =>
        markDeleted(tx, new BulkUpdateRequests(), deleteById, { reason: 'operator', values: [uuid] }),
      );
      const id = publicId('whk', uuid);
      if (deleted.length === 0)
        throw new Error(`The webhook subscription ${id} does not exist, or is deleted already.`);
      return { id, deleted: true };
    },
  }),
};
