import { isKnownEvent, verifyWebhook, webhookEventNames } from '@fulfilment/client/webhooks';
import { eventually, webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { runCli } from './cli.js';
import { demoUser, suite } from '../suite/the-suite.js';
import { fetchFromSuite } from '../suite/fetch-from-suite.js';

const secret = 'a-long-secret-of-the-subscription';
const triggered = z.array(z.object({ event: z.string(), subject: z.string() }));

/** Returns bodies by event id, since the order of a feed may differ from that of the deliveries. */
function bodiesByEvent({ deliveries }: WebhookReceiver): Map<string, string> {
  return new Map(deliveries.map(({ body, rawBody }) => [body.id, rawBody.toString()]));
}

// Each test continues where the previous one ended.
describe('the CLI', () => {
  const configDir = mkdtempSync(join(tmpdir(), 'cli-'));
  const file = join(configDir, 'webhooks.yaml');
  let subscribedReceiver: WebhookReceiver;
  let localReceiver: WebhookReceiver;
  beforeAll(async () => {
    [subscribedReceiver, localReceiver] = await Promise.all([webhookReceiver(), webhookReceiver()]);
  });
  afterAll(async () => {
    rmSync(configDir, { recursive: true });
    await Promise.all([subscribedReceiver.stop(), localReceiver.stop()]);
  });
  const run = (...args: readonly string[]) => runCli(configDir, args, secret);
  const listen = () => run('listen', '--forward-to', localReceiver.url);
  const results = async (...args: readonly string[]) => {
    const command = run(...args, '--json');
    if ((await command.ended) !== 0) throw new Error(command.errors());
    const lines = command.output().trim().split('\n');
    return lines.map((line): unknown => JSON.parse(line));
  };
  const subscription = () => ({
    url: subscribedReceiver.url,
    events: ['order.*'],
    secret_env: 'HOOK_SECRET',
  });
  const writeWebhooksFile = (...entries: readonly object[]) =>
    writeFileSync(file, JSON.stringify({ webhooks: entries })); // JSON is YAML
  const subscriptionId = expect.stringMatching(/^whk_/);

  it('exits with status 3 before a sign-in', async () => {
    expect(await run('trigger', 'order.created').ended).toBe(3);
  });

  it('signs in by the browser, and stores the session in a file that only its owner can read', async () => {
    const login = run('login', '--no-browser');
    const [, url = ''] = await login.untilErrorsMatch(/Sign in at (\S+)\n/);
    const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
    const redirected = await signInAndConsent(browser, url, demoUser('owner@harbour.example'));
    expect(await (await fetch(redirected.url)).text()).toBe('You can close this page.');
    expect([await login.ended, login.errors()]).toEqual([0, expect.stringContaining('Signed in.')]);
    const session = join(configDir, new URL(suite.base_url).host.replace(':', '_'), 'session.json');
    expect(statSync(session).mode & 0o777).toBe(0o600);
  });

  it('creates and updates the subscriptions of a file, after a dry run that changes nothing', async () => {
    const planned = { action: 'create', url: subscribedReceiver.url, id: null, members: [] };
    writeWebhooksFile(subscription());
    expect(await results('webhooks', 'apply', file, '--dry-run')).toEqual([planned]);
    expect(await results('webhooks', 'apply', file)).toEqual([{ ...planned, id: subscriptionId }]);
    writeWebhooksFile({ ...subscription(), events: ['*'] });
    expect(await results('webhooks', 'apply', file)).toMatchObject([
      { action: 'update', members: ['events'], id: subscriptionId },
    ]);
  });

  let signedWith = '';

  it('triggers every event, and forwards it; after the key r, the last one once more', async () => {
    const listener = listen();
    [, signedWith = ''] = await listener.untilErrorsMatch(/secret (whsec_\S+)\. /);
    // Each trigger also causes the events that precede its own, so every event occurs.
    const orders = ['order.tracking_updated', 'order.delivered', 'order.cancelled', 'order.payment_failed'];
    await Promise.all([
      results('trigger', ...orders),
      results('trigger', 'product.available', 'product.in_stock'),
    ]);
    const names = () => new Set(localReceiver.deliveries.map(({ body }) => body.event));
    await eventually(() => names().size === webhookEventNames.length, {
      describe: () => [...names()].join(),
    });
    listener.press('r');
    const attempts = (number: string) =>
      localReceiver.deliveries.filter(({ headers }) => headers['x-service-attempt'] === number);
    const repeated = await eventually(() => attempts('2')[0]);
    const original = attempts('1').find(({ body }) => body.id === repeated.body.id);
    expect(repeated.rawBody).toEqual(original?.rawBody);
    expect(await listener.stop()).toBe(0);
  }, 300_000); // starts many processes

  it('forwards the events that occurred while it was not running, so that all bodies are those of the subscription', async () => {
    const placed = triggered.parse(await results('trigger', 'order.created'));
    expect(placed).toEqual([{ event: 'order.created', subject: expect.any(String) }]);
    const listener = listen();
    const eventsOfOrder = () =>
      new Set(
        localReceiver.deliveries
          .filter(({ body }) => body.data['order_id'] === placed[0]?.subject)
          .map(({ body }) => body.event),
      );
    await eventually(() => eventsOfOrder().has('order.processing'));
    expect(eventsOfOrder()).toContain('order.created');
    await eventually(
      () => isDeepStrictEqual(bodiesByEvent(localReceiver), bodiesByEvent(subscribedReceiver)),
      {
        describe: () =>
          `${bodiesByEvent(localReceiver).size} events were forwarded, ${bodiesByEvent(subscribedReceiver).size} delivered`,
      },
    );
    expect(await listener.stop()).toBe(0);
  });

  it('signs what it forwards with the secret that it printed', () => {
    expect(localReceiver.deliveries.length).toBeGreaterThan(0);
    for (const { headers, rawBody } of localReceiver.deliveries)
      expect(isKnownEvent(verifyWebhook({ headers, body: rawBody }, { secrets: [signedWith] }))).toBe(true);
  });

  it('deletes the subscriptions that the file no longer has, and signs out', async () => {
    writeWebhooksFile();
    expect(await results('webhooks', 'apply', file, '--delete')).toMatchObject([
      { action: 'delete', id: subscriptionId },
    ]);
    const logout = run('logout');
    expect([await logout.ended, logout.errors().trim()]).toEqual([0, 'Signed out.']);
  });
});
