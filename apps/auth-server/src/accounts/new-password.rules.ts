/**
 * In code points, as NIST SP 800-63B-4 §3.1.1.2 counts. NIST requires 15 characters where the password is the
 * only factor, and 8 with a second one. We require 12 in both cases: the limits on guesses make 12 sufficient
 * (ADR 29).
 */
export const minPasswordLength = 12;
export const maxPasswordLength = 1024;

/**
 * Whether a password has too many code points. Checks code units first, which are faster to count: a code
 * point has at most two.
 */
export function isTooLong(password: string): boolean {
  return password.length > 2 * maxPasswordLength || [...password].length > maxPasswordLength;
}

/**
 * Returns why a password is not allowed, as the rest of a sentence after "The new password" or "--password";
 * undefined for an allowed one.
 */
export function newPasswordProblem(
  chosen: string,
  email: string,
  common: ReadonlySet<string>,
): string | undefined {
  if (isTooLong(chosen)) return `must be at most ${maxPasswordLength} characters long`;
  if ([...chosen].length < minPasswordLength) return `must be at least ${minPasswordLength} characters long`;
  const lower = chosen.toLowerCase();
  // The comparisons below leave out what is before the first and after the last letter, and so would allow a
  // password without letters, such as 123456789012.
  if (new Set(lower.match(/\p{L}/gu)).size < 2) return 'must contain at least two different letters';
  const forms = formsToCompare(lower);
  if (forms.some((form) => common.has(form))) return 'is one of the most common passwords';
  const parts = partsOf(email);
  if (forms.some((form) => parts.has(form))) return 'must not be the e-mail address or a part of it';
  return undefined;
}

/** Maximum code points of a part that a password repeats. A longer one is not found. */
const maxRepeatedLength = 64;

/** Returns the password, what is between its first and last letter, what it repeats, and both combined. */
function formsToCompare(lower: string): string[] {
  const inner = withoutEnds(lower);
  const part = repeatedPart(lower);
  return [lower, inner, part, repeatedPart(inner), withoutEnds(part)];
}

/** Returns what is between the first and the last letter, both included. */
function withoutEnds(text: string): string {
  return text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
}

/** Returns the shortest part that the whole password repeats; without one, the password. */
function repeatedPart(password: string): string {
  const characters = [...password];
  for (let length = 1; length <= maxRepeatedLength; length += 1) {
    const isRepeated = characters.every((character, index) => character === characters[index % length]);
    if (isRepeated && characters.length % length === 0) return characters.slice(0, length).join('');
  }
  return password;
}

function partsOf(email: string): Set<string> {
  const lower = email.toLowerCase();
  const [local = '', domain = ''] = lower.split('@');
  return new Set([lower, local, domain, ...local.split(/[.+_-]/), ...domain.split('.')].filter(Boolean));
}
