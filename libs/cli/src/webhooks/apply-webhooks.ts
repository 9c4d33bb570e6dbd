import {
  type Client,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  updateWebhook,
} from '@fulfilment/client/store';
import { printable, type Terminal } from '../terminal.js';
import { type Change, planChanges, type WantedWebhook } from './webhooks-file.js';

export interface ApplyOptions {
  /** Only prints the changes. */
  readonly dryRun: boolean;
  /** Deletes the subscriptions that are not in the file. Otherwise they are printed as ignored. */
  readonly deletes: boolean;
  /** Prints JSON instead of text. */
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/**
 * Creates, updates and, on request, deletes subscriptions as a file describes. Safe to repeat.
 * @throws AbortError before the next subscription when the signal is aborted
 */
export async function applyWebhooks(
  client: Client,
  wanted: readonly WantedWebhook[],
  { dryRun, deletes, json, signal }: ApplyOptions,
  terminal: Terminal,
): Promise<void> {
  const { data: existing } = await listWebhooks({ client, query: { status: 'all' } });
  for (const change of planChanges(wanted, existing.data, { deletes })) {
    signal.throwIfAborted();
    const { action } = change;
    const currentId = 'id' in change ? change.id : undefined;
    const id = dryRun ? currentId : await apply(client, change);
    const url = 'wanted' in change ? change.wanted.url : change.url;
    const members = 'members' in change ? change.members : [];
    const line = [action, url, id ?? '', members.join(', ')].filter((cell) => cell !== '').join('  ');
    terminal.result(json ? JSON.stringify({ action, url, id: id ?? null, members }) : printable(line));
  }
  if (dryRun)
    terminal.note('Nothing was changed (--dry-run). Secrets cannot be compared: they are always sent.');
}

/** Makes the change. Returns the id of the subscription. */
async function apply(client: Client, change: Change): Promise<string> {
  switch (change.action) {
    case 'create': {
      const { url, events, secret, status, max_in_flight, signature } = change.wanted;
      const { data: created } = await createWebhook({
        client,
        body: { url, events: [...events], secret, max_in_flight, signature },
      });
      if (status === 'disabled') await updateWebhook({ client, path: { id: created.id }, body: { status } });
      return created.id;
    }
    case 'update':
    case 'keep': {
      const { events, secret, status, max_in_flight, signature } = change.wanted;
      const body = { secret, status, max_in_flight, signature, events: [...events] };
      // Also for `keep`: the secret may differ.
      await updateWebhook({ client, path: { id: change.id }, body });
      return change.id;
    }
    case 'delete':
      await deleteWebhook({ client, path: { id: change.id } });
      return change.id;
    case 'ignore':
      return change.id;
  }
}
