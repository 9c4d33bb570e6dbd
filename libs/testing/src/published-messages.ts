import {
  type Message,
  type MessageQueue,
  messageQueues,
  parseMessage,
  routingKeyOf,
  uuidv7,
} from '@fulfilment/contracts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', 'contracts', 'published-messages');

/** Returns the texts of messages that releases have published, by file name: type and version (ADR 58). */
export function publishedTexts(): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/**
 * Returns the published messages that a queue receives, as the current consumers parse them. Their ids and
 * times are new, since consumers reject messages that are older than their inbox.
 * @throws InvalidMessage when the current consumers reject one
 */
export function publishedMessages(queue: MessageQueue): Message[] {
  const occurred_at = new Date().toISOString();
  const all = [...publishedTexts().values()].map((text) => {
    const published: unknown = JSON.parse(text);
    return parseMessage(JSON.stringify({ ...Object(published), occurred_at, id: uuidv7() }));
  });
  return all.filter((message) => isReceived(queue, message));
}

function isReceived(queue: MessageQueue, message: Message): boolean {
  if (queue === 'creator-api.replay') return message.type.startsWith('replay.'); // sent directly to the queue
  const key = routingKeyOf(message);
  return messageQueues[queue].some((pattern) => keyPattern(pattern).test(key));
}

/** Converts a pattern of a topic exchange, in which `*` is one word. */
function keyPattern(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '[^.]+')}$`);
}
