import type { WebhookSubscription } from '@fulfilment/client/store';
import { parse } from 'yaml';
import { z } from 'zod';
import { eventPatterns } from './event-filter.js';
import { UsageError } from '../terminal.js';

const entrySchema = z.strictObject({
  url: z.url(),
  events: z.array(z.enum(eventPatterns)).min(1),
  /** The variable with the secret. The file has no secrets, so that it can be committed. */
  secret_env: z.string().min(1),
  status: z.enum(['active', 'disabled']).default('active'),
  max_in_flight: z.int().min(1).max(64).optional(),
  signature: z.enum(['v1', 'v1a']).optional(),
});
const fileSchema = z.strictObject({ webhooks: z.array(entrySchema) });

/** A subscription as the file describes it, with its secret. */
export type WantedWebhook = Omit<z.output<typeof entrySchema>, 'secret_env'> & { readonly secret: string };

/** Parses the text of a file of subscriptions. @throws UsageError with the reason if it is invalid */
export function parseWebhooksFile(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly WantedWebhook[] {
  const { data, error } = fileSchema.safeParse(parseYaml(text));
  if (error !== undefined) throw new UsageError(z.prettifyError(error));
  const urls = new Set<string>();
  return data.webhooks.map(({ secret_env: variable, ...entry }) => {
    const secret = environment[variable];
    if (secret === undefined || secret === '')
      throw new UsageError(
        `The environment variable ${variable} with the secret of ${entry.url} is not set.`,
      );
    const url = new URL(entry.url).href;
    if (urls.has(url)) throw new UsageError(`The file lists ${url} twice. List each URL once.`);
    urls.add(url);
    return { ...entry, url, secret };
  });
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`The file is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export type Change =
  | { readonly action: 'create'; readonly wanted: WantedWebhook }
  | {
      /** `keep` if no member differs. The update is sent anyway, because the secret may differ. */
      readonly action: 'update' | 'keep';
      readonly id: string;
      readonly wanted: WantedWebhook;
      /** Names of the members that differ. The secret cannot be compared. */
      readonly members: readonly string[];
    }
  | { readonly action: 'delete' | 'ignore'; readonly id: string; readonly url: string };

/** Maximum number of an app's subscriptions for a creator. */
const maxSubscriptions = 50;

/**
 * Matches subscriptions by URL. Subscriptions that the file does not list, and all but one of the same URL,
 * are deleted with `deletes`, otherwise ignored. Deletions come last, so that no event is missed. Only if new
 * subscriptions would exceed `maxSubscriptions`, as many deletions as needed come first.
 */
export function planChanges(
  wanted: readonly WantedWebhook[],
  existing: readonly WebhookSubscription[],
  { deletes }: { readonly deletes: boolean },
): readonly Change[] {
  const currentByUrl = new Map(
    wanted.map(({ url }) => [url, existing.find((subscription) => new URL(subscription.url).href === url)]),
  );
  const matchedIds = new Set([...currentByUrl.values()].map((subscription) => subscription?.id));
  const changes = wanted.map((webhook): Change => {
    const current = currentByUrl.get(webhook.url);
    if (current === undefined) return { action: 'create', wanted: webhook };
    const members = differences(webhook, current);
    return { action: members.length > 0 ? 'update' : 'keep', id: current.id, wanted: webhook, members };
  });
  const others = existing
    .filter(({ id }) => !matchedIds.has(id))
    .map(({ id, url }): Change => ({ action: deletes ? 'delete' : 'ignore', id, url }));
  const created = changes.filter(({ action }) => action === 'create').length;
  const deletedFirst = deletes ? Math.max(0, existing.length + created - maxSubscriptions) : 0;
  return [...others.slice(0, deletedFirst), ...changes, ...others.slice(deletedFirst)];
}

function differences(wanted: WantedWebhook, current: WebhookSubscription): readonly string[] {
  const sorted = (events: readonly string[]) => [...new Set(events)].toSorted().join();
  const { max_in_flight: limit, signature } = wanted;
  return [
    ...(sorted(wanted.events) === sorted(current.events) ? [] : ['events']),
    ...(limit === undefined || limit === current.max_in_flight ? [] : ['max_in_flight']),
    ...(signature === undefined || signature === current.signature ? [] : ['signature']),
    ...(wanted.status === current.status ? [] : ['status']),
  ];
}
