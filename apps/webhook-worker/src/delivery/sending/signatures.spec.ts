import { parsePublicId, webhookEvents } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { isKnownEvent, isTestEvent, verifyWebhook } from '@fulfilment/webhook-verifier';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hmacKeysOf } from '../../subscriptions/keys/signing-keys.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { serviceSignature } from './sign.rules.js';

interface Vector {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body_base64: string;
  readonly outcome: string;
}
const changeSecretDayEarlier = statement(
  'test.change-secret-day-earlier',
  `UPDATE webhook_subscriptions SET previous_secret_until = previous_secret_until - interval '24 hours' WHERE id = $1`,
);
const file = new URL('../../../../../libs/webhook-verifier/vectors.json', import.meta.url);
const { vectors }: { vectors: readonly Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

/** Returns the signature header of a vector's request, and the time in it. */
function signatureOf({ headers }: Vector): { header: string; seconds: number } {
  const header = headers['X-Service-Signature'] ?? headers['x-service-signature'] ?? '';
  return { header, seconds: Number(/^t=(\d+)/.exec(header)?.[1]) };
}

const signable = vectors.filter(({ outcome }) => ['accepted', 'too_old', 'too_new'].includes(outcome));

describe('the signature of a delivery', () => {
  it.each(signable)('equals the documented one in the vector: $name', (vector) => {
    const { header, seconds } = signatureOf(vector);
    const body = Buffer.from(vector.body_base64, 'base64');
    const previous = vector.headers['X-Service-Signature-Previous'];
    const ours = vector.secrets.map((secret) =>
      serviceSignature(hmacKeysOf(Buffer.from(secret)), seconds, body),
    );
    expect(ours.some((own) => own === header || own === previous)).toBe(true);
  });

  it.each(vectors.filter(({ outcome }) => outcome === 'wrong_signature'))(
    'differs from that of the invalid vector: $name',
    (vector) => {
      const { header, seconds } = signatureOf(vector);
      const body = Buffer.from(vector.body_base64, 'base64');
      for (const secret of vector.secrets)
        expect(serviceSignature(hmacKeysOf(Buffer.from(secret)), seconds, body)).not.toBe(header);
    },
  );
});

/** Computes the signature with OpenSSL's command, following docs/receiving-webhooks.md only. */
function hmacByOpenssl(secret: string, t: string, rawBody: Buffer): string {
  const key = `hexkey:${Buffer.from(secret, 'utf8').toString('hex')}`;
  const output = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', key], {
    input: Buffer.concat([Buffer.from(`${t}.`), rawBody]),
  });
  return /([0-9a-f]{64})\s*$/.exec(output.toString())?.[1] ?? '';
}

describe('a delivery', () => {
  const given = setUpWorker();

  it.each([
    ['one character', 'x'],
    ['one character outside the BMP', '🎸'],
    ['one space', ' '],
    ['256 characters', 'k'.repeat(256)],
    ['256 characters of four bytes', '🎶'.repeat(256)],
    ['white space at its ends', ' \t whsec \n'],
    ['a combining accent', 'cafe\u0301'],
    ['a composed accent', 'caf\u00e9'],
    ['text of many scripts', '\ufeffשלום مرحبا 日本語 👩‍🎤'],
    ['quotes and backslashes', '"\\u0041\\"'],
  ])('has a signature that OpenSSL and the verifier confirm, for a secret of %s', async (_case, secret) => {
    const { client, id } = await given.subscriber(['order.created'], secret);
    await client.post({ event: 'order.created' }, `/${id}/test`).expect(202);
    const [delivery] = await given.receiver.waitFor(1);
    const { headers = {}, rawBody = Buffer.alloc(0) } = delivery ?? {};
    const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? [];
    expect(v1).toBe(hmacByOpenssl(secret, t, rawBody));
    expect(verifyWebhook({ headers, body: rawBody }, { secrets: [secret] }).event).toBe('order.created');
  });

  it('is verified by the published verifier, for every event name', async () => {
    // One subscription may send 10 test events a minute.
    for (const events of [webhookEvents.slice(0, 6), webhookEvents.slice(6)]) {
      const { client, id } = await given.subscriber([...webhookEvents], 'whsec_test');
      for (const event of events) await client.post({ event }, `/${id}/test`).expect(202);
    }
    const deliveries = await given.receiver.waitFor(webhookEvents.length);
    const verified = deliveries.map(({ headers, rawBody }) =>
      verifyWebhook({ headers, body: rawBody }, { secrets: ['whsec_test'] }),
    );
    expect(new Set(verified.map(({ event }) => event))).toEqual(new Set(webhookEvents));
    expect(verified.filter((event) => !isKnownEvent(event) || !isTestEvent(event))).toEqual([]);
  });

  it('is signed with both secrets after a rotation, so that a receiver may have either', async () => {
    const { client, id } = await given.subscriber(['order.created'], 'old');
    await client.patch(id, { secret: 'new 🎸' }).expect(200);
    await client.post({ event: 'order.created' }, `/${id}/test`).expect(202);
    const [delivery] = await given.receiver.waitFor(1);
    const { headers = {}, rawBody = Buffer.alloc(0) } = delivery ?? {};
    for (const secrets of [['old'], ['new 🎸'], ['new 🎸', 'old']])
      expect(verifyWebhook({ headers, body: rawBody }, { secrets }).event).toBe('order.created');
    expect(() => verifyWebhook({ headers, body: rawBody }, { secrets: ['third'] })).toThrow(
      expect.objectContaining({ code: 'wrong_signature' }),
    );
  });

  it('is signed with the new secret only, 24 hours after the change', async () => {
    const { client, id } = await given.subscriber(['order.created'], 'old');
    await client.patch(id, { secret: 'new' }).expect(200);
    await given.stores.database.run(changeSecretDayEarlier, [parsePublicId('whk', id)]);
    await client.post({ event: 'order.created' }, `/${id}/test`).expect(202);
    const [delivery] = await given.receiver.waitFor(1);
    const { headers = {}, rawBody = Buffer.alloc(0) } = delivery ?? {};
    expect(verifyWebhook({ headers, body: rawBody }, { secrets: ['new'] }).event).toBe('order.created');
    expect(headers).not.toHaveProperty('x-service-signature-previous');
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});
