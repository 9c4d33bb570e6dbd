import { readConnectedCreator } from '@fulfilment/client/store';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { eventFilter } from '../webhooks/event-filter.js';
import { followFeed } from './follow-feed.js';
import { type ForwardAttempt, Forwarder } from './forwarder.js';
import type { PrivateFiles } from '../session/private-files.js';
import { openStore, type Suite } from '../session/session.js';
import { printable, type Terminal } from '../terminal.js';

export interface ListenOptions {
  /** URL of the receiver. Without it, events are only printed. */
  readonly forwardTo?: string | undefined;
  /** Names and patterns such as `order.*`; empty for all events. */
  readonly events: readonly string[];
  /** `saved`: after the last page of events that was handled, or like `now` if there is none. */
  readonly from: 'saved' | 'now' | 'oldest';
  /** The position is saved under this name. */
  readonly name: string;
  /** By default a secret that is created once for each suite. */
  readonly secret?: string | undefined;
  /** Prints JSON instead of text. */
  readonly json: boolean;
  /** An access token instead of the saved session. */
  readonly token?: string | undefined;
}

/** Prints the connected creator's events, and sends them to the receiver if any, until the signal aborts. */
export async function listen(
  suite: Suite,
  options: ListenOptions,
  terminal: Terminal,
  { signal, registerResend }: { signal: AbortSignal; registerResend: (resend: () => void) => void },
): Promise<void> {
  const { json, forwardTo, from, name } = options;
  const matches = eventFilter(options.events);
  const note = (line: string): void => terminal.note(line);
  const report = (entry: Reported): void => terminal.result(json ? jsonLine(entry) : textLine(entry));
  const secret = options.secret ?? (await readOrCreateSecret(suite.files));
  const forwarder =
    forwardTo === undefined
      ? undefined
      : new Forwarder({ target: { url: forwardTo, secret }, signal, report, note });
  const client = openStore(suite, options.token);
  try {
    const { data: creator } = await readConnectedCreator({ client, signal });
    const positionFile = `position-${creator.id}-${name}`;
    const after = from === 'saved' ? suite.files.read(positionFile) : undefined;
    const forwarding =
      forwardTo === undefined ? '' : ` and forwarding them to ${forwardTo}, signed with the secret ${secret}`;
    await followFeed({
      client,
      after,
      skipOld: from !== 'oldest' && after === undefined,
      savePosition: (position) => suite.files.write(positionFile, position),
      onReady: () => {
        const creatorName = printable(creator.name ?? creator.id);
        note(`Listening to the events of ${creatorName}${forwarding}. Press Ctrl-C to stop.`);
        // A resend fails only if the signal aborts.
        if (forwarder !== undefined) registerResend(() => void forwarder.resend().catch(() => undefined));
      },
      handle: async (event) => {
        if (!matches(event.event)) return;
        if (forwarder === undefined) report({ event });
        else await forwarder.send(event);
      },
      note,
      waitForRetry: (delayMs) => delay(delayMs, undefined, { signal }),
      signal,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Width of the column of event names. */
const eventNameWidth = 'product.inventory_changed'.length;

/** An event with the attempt to forward it; without a receiver, only the event. */
type Reported = Partial<ForwardAttempt> & Pick<ForwardAttempt, 'event'>;

function jsonLine({ event, attempt, outcome }: Reported): string {
  const response = typeof outcome === 'string' ? { error: outcome } : { status: outcome };
  const { id, event: name, data } = event;
  return JSON.stringify({ at: new Date().toISOString(), event: name, id, attempt, ...response, data });
}

function textLine({ event, attempt, outcome }: Reported): string {
  const response = typeof outcome === 'number' ? `responded ${outcome}` : 'did not respond';
  const time = new Date().toISOString().slice(11, 23); // HH:MM:SS.mmm
  const cells = [time, event.event.padEnd(eventNameWidth), event.id];
  return printable([...cells, ...(outcome === undefined ? [] : [`attempt ${attempt}`, response])].join('  '));
}

/** Returns the secret that all listeners of a suite use, so that the receiver can keep its setting. */
function readOrCreateSecret(files: PrivateFiles): Promise<string> {
  return files.exclusively('secret', () => {
    const saved = files.read('secret');
    if (saved !== undefined) return saved;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    files.write('secret', secret);
    return secret;
  });
}
