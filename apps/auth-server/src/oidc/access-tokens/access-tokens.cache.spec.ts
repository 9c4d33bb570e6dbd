import { randomUUID } from 'node:crypto';
import { parse } from 'node:querystring';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parsePresentedToken } from './access-tokens.js';

/** Returns a well-formed token with an invalid signature, which `parsePresentedToken` does not verify. */
function wellFormedToken(): string {
  const claims = {
    iss: 'https://suite.example/api/auth',
    sub: 's',
    aud: 'https://suite.example/store',
    client_id: 'c',
    jti: randomUUID(),
    iat: 1,
    exp: 2,
  };
  return `eyJ.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
}

describe('parsePresentedToken', () => {
  it('returns the same digest for the same token, another digest for another token, and nothing for other text', () => {
    const [one, other] = [wellFormedToken(), wellFormedToken()];
    expect(parsePresentedToken(one)).toEqual(parsePresentedToken(one));
    expect(parsePresentedToken(one)?.digest).not.toBe(parsePresentedToken(other)?.digest);
    expect(parsePresentedToken(`${one}x`)?.digest).not.toBe(parsePresentedToken(one)?.digest);
    expect(parsePresentedToken('eyJ.no.token')).toBeUndefined();
  });

  it('caches a token without keeping the form of its request in memory', () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    const heapMb = () => {
      if (typeof collect === 'function') collect();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = heapMb();
    for (let count = 0; count < 1_000; count += 1) {
      const { token } = parse(
        Buffer.from(`token=${wellFormedToken()}&padding=${'x'.repeat(50_000)}`).toString(),
      );
      expect(parsePresentedToken(String(token))?.claims.jti).toEqual(expect.any(String));
    }
    expect(heapMb() - before).toBeLessThan(20); // the forms are 48 MB
  });
});
