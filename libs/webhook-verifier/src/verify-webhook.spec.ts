import { createHmac } from 'node:crypto';
import { vectors, type Vector } from './vectors.fixture.js';
import { verifyWebhook, WebhookVerificationError } from './index.js';

const secret = 'whsec_test';
const now = () => Date.parse('2026-11-21T09:30:00Z');
const body = Buffer.from(
  '{"id":"evt_1","api_version":"2026-11-01","created_at":"2026-11-21T09:30:00.000Z","event":"order.processing","data":{}}',
);

function signatureHeader(signingSecret = secret, seconds = now() / 1000): string {
  const mac = createHmac('sha256', signingSecret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},v1=${mac}`;
}

function outcomeOf({ headers, body_base64, secrets, now: seconds }: Vector): string {
  try {
    verifyWebhook(
      { headers, body: Buffer.from(body_base64, 'base64') },
      { secrets, now: () => seconds * 1000 },
    );
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

function errorOf(run: () => unknown): WebhookVerificationError {
  try {
    run();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error;
    throw error;
  }
  throw new Error('The call did not throw.');
}

describe('verifyWebhook', () => {
  it.each(vectors)('results in $outcome for $name', (vector) => {
    expect(outcomeOf(vector)).toBe(vector.outcome);
  });

  it('returns the event as it was sent, including unknown members', () => {
    const vector = vectors.find(({ name }) => name === 'a member that is added later');
    const raw = Buffer.from(vector?.body_base64 ?? '', 'base64');
    const { headers = {}, secrets = [] } = vector ?? {};
    expect(verifyWebhook({ headers, body: raw }, { secrets, now })).toEqual(JSON.parse(raw.toString()));
  });

  it('accepts headers of fetch and node:http in upper or lower case, and a Uint8Array that is not a Buffer', () => {
    const header = signatureHeader();
    for (const headers of [
      new Headers({ 'X-Service-Signature': header }),
      { 'X-SERVICE-SIGNATURE': header },
      { 'x-service-signature': [header], get: 'a header named "get" does not make this a Headers' },
    ])
      expect(verifyWebhook({ headers, body: new Uint8Array(body) }, { secrets: [secret], now }).id).toBe(
        'evt_1',
      );
  });

  it('rejects a repeated signature header, however the server represents it', () => {
    const header = signatureHeader();
    const twice = new Headers([
      ['x-service-signature', header],
      ['x-service-signature', header],
    ]);
    for (const headers of [twice, { 'x-service-signature': [header, header] }])
      expect(errorOf(() => verifyWebhook({ headers, body }, { secrets: [secret], now })).code).toBe(
        'malformed_signature',
      );
  });

  it('checks the age with the given tolerance and clock', () => {
    const verify = (seconds: number, toleranceSeconds: number) =>
      verifyWebhook(
        { headers: { 'x-service-signature': signatureHeader(secret, seconds) }, body },
        { secrets: [secret], toleranceSeconds, now },
      );
    expect(verify(now() / 1000 - 10, 10).id).toBe('evt_1');
    expect(errorOf(() => verify(now() / 1000 - 11, 10)).code).toBe('too_old');
    expect(errorOf(() => verify(now() / 1000 + 11, 10)).code).toBe('too_new');
  });

  it('uses the system clock by default', () => {
    const fresh = { 'x-service-signature': signatureHeader(secret, Math.floor(Date.now() / 1000)) };
    expect(verifyWebhook({ headers: fresh, body }, { secrets: [secret] }).id).toBe('evt_1');
  });

  it.each(vectors.filter(({ outcome }) => outcome !== 'accepted'))(
    'throws an error that contains no secret, signature or body for $name',
    ({ headers, body_base64, secrets, now: seconds }) => {
      const raw = Buffer.from(body_base64, 'base64');
      const error = errorOf(() =>
        verifyWebhook({ headers, body: raw }, { secrets, now: () => seconds * 1000 }),
      );
      const visible = `${error.message} ${error.stack ?? ''} ${JSON.stringify(error)} ${String(error.cause)}`;
      // A shorter text, such as the body `null`, may occur in the error by chance.
      const hidden = [...secrets, ...Object.values(headers), raw.toString()].filter(
        ({ length }) => length > 5,
      );
      expect(hidden.filter((text) => visible.includes(text))).toEqual([]);
    },
  );

  it.each([
    ['no secret', { secrets: [] }],
    ['an empty secret, with which any sender could sign', { secrets: [''] }],
    ['an empty secret next to a good one', { secrets: [secret, ''] }],
    ['a tolerance that is not a number', { secrets: [secret], toleranceSeconds: Number.NaN }],
    ['a negative tolerance', { secrets: [secret], toleranceSeconds: -1 }],
  ])('throws a TypeError for %s', (_what, options) => {
    const request = { headers: { 'x-service-signature': signatureHeader('') }, body };
    expect(() => verifyWebhook(request, { ...options, now })).toThrow(TypeError);
  });

  it.each([
    ['an object', JSON.parse(body.toString())],
    ['text', body.toString()],
    ['nothing', undefined],
  ])('throws a TypeError for a body that is %s', (_what, parsed) => {
    const request = { headers: { 'x-service-signature': signatureHeader() }, body: parsed };
    const verify = () => verifyWebhook(request, { secrets: [secret], now });
    expect(verify).toThrow(TypeError);
    expect(verify).toThrow('raw bytes');
  });
});
