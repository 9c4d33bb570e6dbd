import { isKnownEvent, verifyWebhook, webhookEventNames } from '@fulfilment/client/webhooks';
import { eventually, webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from './cli.js';
import { demoUser, suite } from '../suite/the-suite.js';
import { closeConnections, fetchFromSuite } from '../suite/third-party-app.js';

const secret = 'a-long-secret-of-the-subscription';

/** Bodies by the id of the event, since a feed may have another order than the deliveries. */
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
    await Promise.all([subscribedReceiver.stop(), localReceiver.stop(), closeConnections()]);
  });
  const run = (...args: readonly string[]) => runCli(configDir, args, secret);
  const listen = () => run('listen', '--forward-to', localReceiver.url);
  const results = async (...args: readonly string[]) => {
    const command = run(...args, '--json');
    if ((await command.ended) !== 0) throw new Error(command.errors());
    const lines = command.output().trim().split('\n');
    return lines.map((line): unknown => JSON.parse(line));
  };

  it('signs in by the browser, applies subscriptions, and forwards every event as subscribed receivers get it', async () => {
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
    const describeWebhooks = (...entries: readonly object[]) =>
      writeFileSync(file, JSON.stringify({ webhooks: entries })); // JSON is YAML
    describeWebhooks(entry);
    const planned = { action: 'create', url: subscribedReceiver.url, id: null, members: [] };
    expect(await results('webhooks', 'apply', file, '--dry-run')).toEqual([planned]);
    const id = expect.stringMatching(/^whk_/);
    expect(await results('webhooks', 'apply', file)).toEqual([{ ...planned, id }]);
    describeWebhooks({ ...entry, events: ['*'] });
    expect(await results('webhooks', 'apply', file)).toMatchObject([
      { action: 'update', members: ['events'], id },
    ]);

    const first = listen();
    const [, signedWith = ''] = await first.untilErrorsMatch(/secret (whsec_\S+)\. /);
    const orders = ['order.tracking_updated', 'order.delivered', 'order.cancelled', 'order.payment_failed'];
    await Promise.all([
      results('trigger', ...orders),
      results('trigger', 'product.available', 'product.in_stock'),
    ]);
    const names = () => new Set(localReceiver.deliveries.map(({ body }) => body.event));
    await eventually(
      () => names().size === webhookEventNames.length,
      15_000,
      () => [...names()].join(),
    );
    const last = localReceiver.deliveries.at(-1);
    const count = localReceiver.deliveries.length;
    first.press('r'); // forwards the last delivery again
    expect((await localReceiver.waitFor(count + 1))[count]).toMatchObject({
      rawBody: last?.rawBody,
      headers: { 'x-service-attempt': '2' },
    });
    expect(await first.stop()).toBe(0);

    const placed = await results('trigger', 'order.created'); // while no listener runs
    const second = listen();
    await localReceiver.waitFor(count + 3); // the replay, created and processing
    expect(await second.stop()).toBe(0);
    expect(placed).toEqual([
      { event: 'order.created', subject: localReceiver.deliveries[count + 1]?.body.data['order_id'] },
    ]);
    await eventually(
      () => bodies(subscribedReceiver).size >= bodies(localReceiver).size,
      15_000,
      () => `${bodies(subscribedReceiver).size} of ${bodies(localReceiver).size} were delivered`,
    );
    expect(bodies(localReceiver)).toEqual(bodies(subscribedReceiver));
    for (const { headers, rawBody } of localReceiver.deliveries)
      expect(isKnownEvent(verifyWebhook({ headers, body: rawBody }, { secrets: [signedWith] }))).toBe(true);

    describeWebhooks();
    expect(await results('webhooks', 'apply', file, '--delete')).toMatchObject([{ action: 'delete', id }]);
    const logout = run('logout');
    expect([await logout.ended, logout.errors().trim()]).toEqual([0, 'Signed out.']);
  }, 120_000); // starts about 25 processes
});
