import { isWebhookEvent, type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { parseArgs } from 'node:util';
import { ownerEmail } from '../demo/accounts.ts';
import { Failure } from '../dev/failure.ts';
import { wholeNumber } from '../dev/whole-number.ts';

const program = 'npm run -s tools -- listen';

export const listenHelp = `${program}: a webhook receiver on this machine. It subscribes to the running suite, verifies and prints
every delivery, and unsubscribes when it is stopped (Ctrl-C, SIGTERM).

  --events A,B    events to receive (default: all)
  --json          print each delivery as one line of JSON, with its data
  --fail N        respond to the first N deliveries with --status, then with 204
  --status S      status of every response, or with --fail of the first N, 200 to 599
                  (default: 204, with --fail 500)
  --delay MS      delay before each response (default: 0)
  --port P        port to listen on (default: a free port)
  --secret S      secret of the subscription (default: random)
  --email E       account whose creator to subscribe for (default: owner@harbour.example)
  --password P    password of the account; required unless it is a demo account
  --token T       access token to use instead of an account (webhooks:create and webhooks:delete)`;

/** How the receiver responds to deliveries. */
interface Behaviour {
  /** Status of the failures, or of all responses if `failures` is undefined. */
  readonly status: number;
  /** Number of failures at the start. */
  readonly failures: number | undefined;
  readonly delayMs: number;
}

export interface ListenOptions {
  readonly events: readonly WebhookEvent[];
  readonly json: boolean;
  readonly port: number;
  readonly secret: string | undefined;
  readonly email: string;
  readonly password: string | undefined;
  readonly token: string | undefined;
  readonly behaviour: Behaviour;
}

/**
 * Returns undefined if help is requested.
 * @throws Failure, or the error of `parseArgs` for unknown options
 */
export function readListenOptions(args: readonly string[]): ListenOptions | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', multiple: true },
      json: flag,
      fail: text,
      status: text,
      delay: text,
      port: text,
      secret: text,
      email: { type: 'string', default: ownerEmail },
      password: text,
      token: text,
      help: { ...flag, short: 'h' },
    },
  });
  if (values.help) return undefined;
  const failures = values.fail === undefined ? undefined : wholeNumber('fail', values.fail, 0, 1_000_000);
  return {
    events: readEvents(values.events),
    json: values.json,
    port: wholeNumber('port', values.port ?? '0', 0, 65_535),
    secret: readSecret(values.secret),
    email: values.email,
    password: values.password,
    token: values.token,
    behaviour: {
      failures,
      status: wholeNumber('status', values.status ?? (failures === undefined ? '204' : '500'), 200, 599),
      delayMs: wholeNumber('delay', values.delay ?? '0', 0, 600_000),
    },
  };
}

/** Returns the status of the response to a delivery. @param number of the delivery, from 1 */
export function responseStatus(number: number, { status, failures }: Behaviour): number {
  return failures === undefined || number <= failures ? status : 204;
}

function readEvents(lists: readonly string[] | undefined): readonly WebhookEvent[] {
  if (lists === undefined) return webhookEvents;
  const names = lists.flatMap((list) => list.split(',')).map((name) => name.trim());
  const unknown = names.find((name) => !isWebhookEvent(name));
  if (unknown !== undefined)
    throw new Failure(`Unknown event "${unknown}". All events: ${webhookEvents.join(', ')}`);
  return names.filter((name) => isWebhookEvent(name));
}

function readSecret(secret: string | undefined): string | undefined {
  if (secret === '') throw new Failure('--secret must not be empty.');
  return secret;
}
