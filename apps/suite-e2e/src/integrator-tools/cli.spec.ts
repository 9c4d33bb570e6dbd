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
function bodies({ deliveries }: WebhookReceiver): Map<string, string> {
  return new Map(deliveries.map(({ body, rawBody }) => [body.id, rawBody.toString()]));
}

describe('the CLI', () => {
  const configDir = mkdtempSync(join(tmpdir(), 'cli-'));
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

  it('signs in by the browser, applies subscriptions, and forwards the same bytes as a subscription delivers', async () => {
    expect(await run('trigger', 'order.created').ended).toBe(3); // not signed in
    const login = run('login', '--no-browser');
    const [, url = ''] = await login.untilErrorsMatch(/Sign in at (\S+)\n/);
    const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
    const back = await signInAndConsent(browser, url, demoUser('owner@harbour.example'));
    expect(await (await fetch(back.url)).text()).toBe('You can close this page.');
    expect([await login.ended, login.errors()]).toEqual([0, expect.stringContaining('Signed in.')]);
    expect(
      statSync(join(configDir, new URL(suite.base_url).host.replace(':', '_'), 'session.json')).mode & 0o777,
    ).toBe(0o600);

    const file = join(configDir, 'webhooks.yaml');
    const entry = { url: subscribedReceiver.url, events: ['order.*'], secret_env: 'HOOK_SECRET' };
    const writeWebhooksFile = (...entries: readonly object[]) =>
      writeFileSync(file, JSON.stringify({ webhooks: entries })); // JSON is YAML
    writeWebhooksFile(entry);
    const planned = { action: 'create', url: subscribedReceiver.url, id: null, members: [] };
    expect(await results('webhooks', 'apply', file, '--dry-run')).toEqual([planned]);
    const id = expect.stringMatching(/^whk_/);
    expect(await results('webhooks', 'apply', file)).toEqual([{ ...planned, id }]);
    writeWebhooksFile({ ...entry, events: ['*'] });
    expect(await results('webhooks', 'apply', file)).toMatchObject([
      { action: 'update', members: ['events'], id },
    ]);

    const first = listen();
    const [, signedWith = ''] = await first.untilErrorsMatch(/secret (whsec_\S+)\. /);
    // Each trigger also causes the events that come before its own, so every event occurs.
    const orders = ['order.tracking_updated', 'order.delivered', 'order.cancelled', 'order.payment_failed'];
    await Promise.all([
      results('trigger', ...orders),
      results('trigger', 'product.available', 'product.in_stock'),
    ]);
    const names = () => new Set(localReceiver.deliveries.map(({ body }) => body.event));
    await eventually(() => names().size === webhookEventNames.length, {
      describe: () => [...names()].join(),
    });
    first.press('r'); // forwards the last delivery again
    const attempts = (number: string) =>
      localReceiver.deliveries.filter(({ headers }) => headers['x-service-attempt'] === number);
    const repeated = await eventually(() => attempts('2')[0]);
    const original = attempts('1').find(({ body }) => body.id === repeated.body.id);
    expect(repeated.rawBody).toEqual(original?.rawBody);
    expect(await first.stop()).toBe(0);

    const placed = triggered.parse(await results('trigger', 'order.created')); // while no listener runs
    expect(placed).toEqual([{ event: 'order.created', subject: expect.any(String) }]);
    const second = listen();
    const eventsOfOrder = () =>
      new Set(
        localReceiver.deliveries
          .filter(({ body }) => body.data['order_id'] === placed[0]?.subject)
          .map(({ body }) => body.event),
      );
    await eventually(() => eventsOfOrder().has('order.processing'));
    expect(eventsOfOrder()).toContain('order.created');
    await eventually(() => isDeepStrictEqual(bodies(localReceiver), bodies(subscribedReceiver)), {
      describe: () =>
        `${bodies(localReceiver).size} events were forwarded, ${bodies(subscribedReceiver).size} delivered`,
    });
    expect(await second.stop()).toBe(0);
    for (const { headers, rawBody } of localReceiver.deliveries)
      expect(isKnownEvent(verifyWebhook({ headers, body: rawBody }, { secrets: [signedWith] }))).toBe(true);

    writeWebhooksFile();
    expect(await results('webhooks', 'apply', file, '--delete')).toMatchObject([{ action: 'delete', id }]);
    const logout = run('logout');
    expect([await logout.ended, logout.errors().trim()]).toEqual([0, 'Signed out.']);
  }, 300_000); // starts about 25 processes
});
