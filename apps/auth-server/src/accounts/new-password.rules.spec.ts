import { describe, expect, it } from '@jest/globals';
import { commonPasswords } from './common-passwords.js';
import { newPasswordProblem } from './new-password.rules.js';

const email = 'oliviana.willemsen@indie-music.example';

describe('a new password (NIST SP 800-63B-4 §3.1.1.2)', () => {
  it.each([
    'correct horse battery staple',
    'harbour-owner-demo',
    'platform-operator-demo',
    'zwölf Zeichen',
    'olivia met three foxes',
    '𝒑𝒂𝒔𝒔𝒘𝒐𝒓𝒕𝒔𝒂𝒕𝒛',
  ])('may be %j', async (chosen) => {
    expect(newPasswordProblem(chosen, email, await commonPasswords())).toBeUndefined();
  });

  it.each([
    ['elf Zeichen', 'must be at least 12'],
    ['💿💿💿💿💿💿', 'must be at least 12'],
    ['x'.repeat(1025), 'must be at most 1024'],
    ['1q2w3e4r5t6y', 'common'],
    ['Administrator', 'common'],
    ['Password1234', 'common'],
    ['!!!letmein2026!!!', 'common'],
    ['dragondragondragon', 'common'],
    ['aaaaaaaaaaaaaaa', 'common'],
    ['123456789012', 'common'],
    ['9876543210 9876543210', 'common'],
    [email, 'e-mail'],
    ['Oliviana.Willemsen', 'e-mail'],
    ['indie-music.example', 'e-mail'],
    ['Willemsen2026!', 'e-mail'],
    ['olivianaoliviana', 'e-mail'],
  ])('must not be %j', async (chosen, problem) => {
    expect(newPasswordProblem(chosen, email, await commonPasswords())).toContain(problem);
  });

  it('is checked within a second at its maximum length when it repeats a part', async () => {
    const common = await commonPasswords();
    const startedAt = performance.now();
    for (const part of ['a', 'ab', 'a1', '1', '-'])
      newPasswordProblem(`${part.repeat(1000)}x`, email, common);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
