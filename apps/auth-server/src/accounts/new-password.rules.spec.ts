import { commonPasswords } from './common-passwords.js';
import { maxPasswordLength, newPasswordProblem } from './new-password.rules.js';

const email = 'oliviana.willemsen@indie-music.example';

describe('a new password (NIST SP 800-63B-4 §3.1.1.2)', () => {
  it.each([
    ['several words', 'correct horse battery staple'],
    ['the password of a demo account', 'harbour-owner-demo'],
    ['the password of the demo operator', 'platform-operator-demo'],
    ['12 characters, one of them not in ASCII', 'zwölfZeichen'],
    ['words, one of them the beginning of the e-mail address', 'olivia met three foxes'],
    ['12 characters of two code units each', '𝒑𝒂𝒔𝒔𝒘𝒐𝒓𝒕𝒔𝒂𝒕𝒛'],
    ['1024 characters of two code units each', `${'𝒑𝒂𝒔𝒔𝒘𝒐𝒓'.repeat(146)}𝒕𝒛`],
    ['a common password with a sign in it', 'Admin-istrator'],
  ])('may be %s: %j', async (_, chosen) => {
    expect(newPasswordProblem(chosen, email, await commonPasswords())).toBeUndefined();
  });

  it.each([
    ['11 characters', 'elf Zeichen', 'must be at least 12'],
    ['6 characters of two code units each', '💿💿💿💿💿💿', 'must be at least 12'],
    ['1025 characters', 'x'.repeat(1025), 'must be at most 1024'],
    ['a common password', '1q2w3e4r5t6y', 'common'],
    ['a common password with a capital letter', 'Administrator', 'common'],
    ['a common password with digits after it', 'Password1234', 'common'],
    ['a common password between digits and signs', '!!!letmein2026!!!', 'common'],
    ['a repeated common password', 'dragondragondragon', 'common'],
    ['a common password repeated 50 times', 'dragon'.repeat(50), 'common'],
    ['a repeated common password with digits and a sign', 'Password1!Password1!', 'common'],
    ['a repeated common password, then digits', 'dragondragon12', 'common'],
    ['one letter between digits', '1111aaaa1111', 'two different letters'],
    ['one letter in both cases, with a digit', 'aaaaAAAA1aaa', 'two different letters'],
    ['a repeated name in the e-mail address with a digit', 'Willemsen1Willemsen1', 'e-mail'],
    ['a repeated letter', 'aaaaaaaaaaaaaaa', 'two different letters'],
    ['a repeated character of two code units', '𠮷'.repeat(12), 'two different letters'],
    ['a single letter among digits', '12345a678901', 'two different letters'],
    ['digits', '123456789012', 'two different letters'],
    ['digits and a space', '9876543210 9876543210', 'two different letters'],
    ['the e-mail address', email, 'e-mail'],
    ['the local part of the e-mail address with capital letters', 'Oliviana.Willemsen', 'e-mail'],
    ['the domain of the e-mail address', 'indie-music.example', 'e-mail'],
    ['a label of the domain with digits after it', 'indie-music2026', 'e-mail'],
    ['a name in the e-mail address with digits and a sign after it', 'Willemsen2026!', 'e-mail'],
    ['a repeated name in the e-mail address', 'olivianaoliviana', 'e-mail'],
  ])('must not be %s', async (_, chosen, problem) => {
    expect(newPasswordProblem(chosen, email, await commonPasswords())).toContain(problem);
  });

  it('must not be the e-mail address in other case, or its repeated local part of the maximum length', () => {
    const local = 'Oliviana'.padEnd(64, 'xyz');
    expect(newPasswordProblem(local.toLowerCase(), `${local}@a.example`, new Set())).toContain('e-mail');
    expect(newPasswordProblem(local.repeat(2), `${local}@a.example`, new Set())).toContain('e-mail');
  });

  it('is validated in less than a second, if only the last character of the maximum length differs from a repetition', async () => {
    const common = await commonPasswords();
    const started = process.threadCpuUsage();
    for (const part of ['a', 'ab', 'a1', '1', '-']) {
      const chosen = `${part.repeat(maxPasswordLength).slice(0, maxPasswordLength - 1)}x`;
      const problem = newPasswordProblem(chosen, email, common);
      expect(problem).not.toEqual(expect.stringContaining('at most')); // that would skip the search
    }
    const { user, system } = process.threadCpuUsage(started);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
