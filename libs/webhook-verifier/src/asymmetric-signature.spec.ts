import { describe, expect, it } from '@jest/globals';
import { verifyWebhook } from './index.js';
import { v1a } from './vectors.fixture.js';

const [accepted] = v1a;
const request = {
  headers: accepted?.headers ?? {},
  body: Buffer.from(accepted?.body_base64 ?? '', 'base64'),
};
const now = () => (accepted?.now ?? 0) * 1000;

describe('a signature v1a', () => {
  it.each(v1a)('results in $outcome for $name', (vector) => {
    const { headers, public_keys: publicKeys, outcome } = vector;
    const verify = () =>
      verifyWebhook(
        { headers, body: Buffer.from(vector.body_base64, 'base64') },
        { publicKeys, now: () => vector.now * 1000 },
      );
    if (outcome === 'accepted') expect(verify().event).toBe('order.created');
    else expect(verify).toThrow(expect.objectContaining({ code: outcome }));
  });

  it('does not accept the HMAC instead, even if a secret is given too', () => {
    const options = { secrets: ['s'], publicKeys: accepted?.public_keys ?? [], now };
    const hmacOnly = { 'x-service-signature': `t=1795253400,v1=${'0'.repeat(64)}` };
    expect(() => verifyWebhook({ ...request, headers: hmacOnly }, options)).toThrow(
      expect.objectContaining({ code: 'missing_signature' }),
    );
  });

  it('needs an Ed25519 key', () => {
    expect(() => verifyWebhook(request, { publicKeys: [], now })).toThrow(TypeError);
    const wrong = { kty: 'EC', crv: 'P-256', x: 'x' };
    expect(() => verifyWebhook(request, { publicKeys: [wrong], now })).toThrow('must be an Ed25519 key');
    expect(() => verifyWebhook(request, {})).toThrow('secrets must be an array');
  });
});
