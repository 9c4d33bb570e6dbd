import { type Client, createWebhook, deleteWebhook } from '@fulfilment/client/store';
import { randomBytes } from 'node:crypto';
import { openStore } from '../demo/api.ts';
import { demoToken } from '../demo/demo-token.ts';
import { readRunningSuite } from '../dev/state/running-suite.ts';
import { Failure, reasonOf } from '../dev/failure.ts';
import { formatLine, toReport } from './delivery-report.ts';
import { listenHelp, type ListenOptions, readListenOptions, responseStatus } from './listen-options.ts';
import { openReceiver } from './receiver.ts';

const scopes = ['openid', 'webhooks:create', 'webhooks:delete'];

/**
 * Subscribes, prints deliveries to standard output until a signal arrives, then unsubscribes.
 * @throws Failure
 */
export async function listen(args: readonly string[]): Promise<void> {
  const options = readListenOptions(args);
  if (options === undefined) return console.log(listenHelp);
  const stopped = untilStopped(); // from here on, a signal stops it gracefully
  const openClient = await clientFactory(options);
  const secret = options.secret ?? randomBytes(24).toString('base64url');
  let count = 0;
  const receiver = await openReceiver({
    secret,
    port: options.port,
    respond: (request) => {
      count += 1;
      const status = responseStatus(count, options.behaviour);
      const report = toReport(request, status);
      console.log(options.json ? JSON.stringify(report) : formatLine(report));
      return { status, delayMs: options.behaviour.delayMs };
    },
  });
  try {
    const { data: subscription } = await createWebhook({
      client: await openClient(),
      body: { url: receiver.url, secret, events: [...options.events] },
    });
    const { id, events } = subscription;
    console.error(`${id} listens at ${receiver.url} for ${events.join(', ')}. Press Ctrl-C to stop.`);
    await stopped;
    await unsubscribe(openClient, id);
    console.error(`${id} is deleted.`);
  } finally {
    await receiver.stop();
  }
}

async function unsubscribe(openClient: () => Promise<Client>, id: string): Promise<void> {
  try {
    await deleteWebhook({ client: await openClient(), path: { id } });
  } catch (error) {
    throw new Failure(`${id} could not be deleted: ${reasonOf(error)}`);
  }
}

/**
 * Returns a function that opens a client of the Store API: with the given token, or each time with a new one,
 * because the token of the subscription may have expired before it is deleted.
 */
async function clientFactory({ token, email, password }: ListenOptions): Promise<() => Promise<Client>> {
  const stack = await readRunningSuite();
  return async () => openStore(stack, token ?? (await demoToken(stack, { email, password, scopes })));
}

/**
 * Waits for a signal. Ctrl-C in a terminal also reaches npm, which forwards it. So it may arrive twice, and
 * the handlers stay.
 */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    process.stdout.on('error', () => resolve()); // the reader has exited: `… | head -1`
  });
}
