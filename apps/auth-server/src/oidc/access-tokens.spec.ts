import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { parse } from 'node:querystring';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { presented } from './access-tokens.js';

/** By its looks only: that is all that is asked of a token before its record is looked for. */
function looksLikeOne(): string {
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

describe('a token that is presented', () => {
  it('is the same whenever it comes, and no other', () => {
    const [one, other] = [looksLikeOne(), looksLikeOne()];
    expect(presented(one)).toEqual(presented(one));
    expect(presented(one)?.handle).not.toBe(presented(other)?.handle);
    expect(presented(`${one}x`)?.handle).not.toBe(presented(one)?.handle);
    expect(presented('eyJ.no.token')).toBeUndefined();
  });

  it('is remembered without the form it came in', () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    const heapMb = () => {
      if (typeof collect === 'function') collect();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = heapMb();
    for (let count = 0; count < 1_000; count += 1) {
      const { token } = parse(
        Buffer.from(`token=${looksLikeOne()}&padding=${'x'.repeat(50_000)}`).toString(),
      );
      expect(presented(String(token))).toBeDefined();
    }
    expect(heapMb() - before).toBeLessThan(20); // the forms are 48 MB
  });
});
