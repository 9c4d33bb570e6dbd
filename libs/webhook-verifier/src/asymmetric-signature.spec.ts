import { createHmac } from 'node:crypto';
import { verifyWebhook } from './index.js';
import { type AsymmetricVector, v1a } from './vectors.fixture.js';

function verify(vector: AsymmetricVector, publicKeys = vector.public_keys) {
  return verifyWebhook(
    { headers: vector.headers, body: Buffer.from(vector.body_base64, 'base64') },
    { publicKeys, now: () => vector.now * 1000 },
  );
}

const accepted = v1a.find(({ outcome }) => outcome === 'accepted');
if (accepted === undefined) throw new Error('vectors.json has no accepted signature v1a.');

describe('a signature v1a', () => {
  it.each(v1a)('results in $outcome for $name', (vector) => {
    const { outcome } = vector;
    if (outcome === 'accepted') expect(verify(vector).event).toBe('order.created');
    else expect(() => verify(vector)).toThrow(expect.objectContaining({ code: outcome }));
  });

  it('cannot be replaced by a valid HMAC, even if its secret is given too', () => {
    const body = Buffer.from(accepted.body_base64, 'base64');
    const mac = createHmac('sha256', 's').update(`${accepted.now}.`).update(body).digest('hex');
    const request = { headers: { 'x-service-signature': `t=${accepted.now},v1=${mac}` }, body };
    const withSecret = { secrets: ['s'], now: () => accepted.now * 1000 };
    expect(verifyWebhook(request, withSecret).event).toBe('order.created');
    expect(() => verifyWebhook(request, { ...withSecret, publicKeys: accepted.public_keys })).toThrow(
      expect.objectContaining({ code: 'missing_signature' }),
    );
  });

  it.each([
    ['no key', [], 'must have at least one key'],
    ['a key of another curve', [{ kty: 'EC', crv: 'P-256', x: 'x' }], 'must be an Ed25519 key'],
    ['a key of another length', [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }], 'Invalid JWK'],
  ])('throws a TypeError for %s', (_what, publicKeys, message) => {
    expect(() => verify(accepted, publicKeys)).toThrow(TypeError);
    expect(() => verify(accepted, publicKeys)).toThrow(message);
  });
});
