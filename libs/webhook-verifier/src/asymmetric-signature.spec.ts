import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import { verifyWebhook } from './index.js';

const body = Buffer.from(
  JSON.stringify({ id: 'evt_1', api_version: 'v', created_at: '', event: 'order.created', data: {} }),
);
const now = () => 1_790_000_000_000;
const newPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', x } };
};
const [current, previous, other] = [newPair(), newPair(), newPair()];
const signatureOf = ({ privateKey }: typeof current, timestamp = '1790000000', id = 'evt_1') =>
  `v1a,${sign(null, Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), privateKey).toString('base64')}`;
const headers = (signature: string, timestamp = '1790000000') => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
});
const verifying = (given: Record<string, string>, pairs = [current]) =>
  verifyWebhook({ headers: given, body }, { publicKeys: pairs.map(({ jwk }) => jwk), now });

describe('a signature v1a', () => {
  it('is accepted if one of the keys made one of the signatures, whatever else the header has', () => {
    const both = `v1,c2VjcmV0 ${signatureOf(current)} ${signatureOf(previous)}`;
    expect(verifying(headers(signatureOf(current))).id).toBe('evt_1');
    expect(verifying(headers(both), [previous]).id).toBe('evt_1');
    expect(verifying(headers(both), [other, current]).id).toBe('evt_1');
  });

  it.each([
    ['missing_signature', {}],
    ['missing_signature', headers('v1,c2VjcmV0')],
    ['missing_signature', { 'webhook-signature': signatureOf(current) }],
    ['malformed_signature', headers('v1a,c2VjcmV0')],
    ['malformed_signature', headers(signatureOf(current), 'today')],
    ['wrong_signature', headers(signatureOf(other))],
    ['wrong_signature', headers(signatureOf(current, '1790000000', 'evt_2'))],
    ['wrong_signature', headers(signatureOf(current), '1790000001')],
    ['too_old', headers(signatureOf(current, '1789999699'), '1789999699')],
    ['too_new', headers(signatureOf(current, '1790000301'), '1790000301')],
  ])('is rejected as %s', (code, given) => {
    expect(() => verifying(given)).toThrow(expect.objectContaining({ code }));
  });

  it('does not accept the HMAC instead, even if a secret is given too', () => {
    const options = { secrets: ['s'], publicKeys: [current.jwk], now };
    const hmacOnly = { 'x-service-signature': `t=1790000000,v1=${'0'.repeat(64)}` };
    expect(() => verifyWebhook({ headers: hmacOnly, body }, options)).toThrow(
      expect.objectContaining({ code: 'missing_signature' }),
    );
  });

  it('needs an Ed25519 key', () => {
    expect(() => verifying(headers(signatureOf(current)), [])).toThrow(TypeError);
    const wrong = { privateKey: current.privateKey, jwk: { kty: 'EC', crv: 'P-256', x: 'x' } };
    expect(() => verifying(headers(signatureOf(current)), [wrong])).toThrow('must be an Ed25519 key');
    expect(() => verifyWebhook({ headers: {}, body }, {})).toThrow('secrets must be an array');
  });
});
