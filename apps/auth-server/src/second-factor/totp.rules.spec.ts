import { keyUri, setupKey, findTimeStep } from './totp.rules.js';

/** The secret of RFC 6238, appendix B. The codes below are the last six of the eight digits there. */
const secret = Buffer.from('12345678901234567890');

describe('a time-based code (RFC 6238)', () => {
  it.each([
    [59, '287082', 1],
    [1111111109, '081804', 37037036],
    [1111111111, '050471', 37037037],
    [20000000000, '353130', 666666666],
  ])('at second %i is %s, of step %i', (second, code, step) => {
    expect(findTimeStep(secret, code, second * 1000)).toBe(step);
    const spaced = code.replaceAll(/(..)/g, '$1 ');
    expect(findTimeStep(secret, spaced, second * 1000)).toBe(step);
  });

  it('is valid one step early or late, and no further', () => {
    const [code, step] = ['287082', 1];
    const atMs = (steps: number) => (59 + 30 * steps) * 1000;
    expect(findTimeStep(secret, code, atMs(1))).toBe(step);
    expect(findTimeStep(secret, code, atMs(-1))).toBe(step);
    expect(findTimeStep(secret, code, atMs(2))).toBeUndefined();
  });

  it.each(['', '28708', '2870820', 'abcdef', '２８７０８２', "287082'"])('does not match %j', (typed) => {
    expect(findTimeStep(secret, typed, 59_000)).toBeUndefined();
  });
});

it('encodes the secret as an otpauth URI for authenticator apps', () => {
  const uri = new URL(keyUri(secret, 'a+b@c.example'));
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(uri.pathname)).toBe('/Fulfilment:a+b@c.example');
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: 'Fulfilment',
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
  expect(setupKey(secret)).toBe('GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
});
