/** NIST SP 800-63B §3.1.1.2: length is what counts, in code points; nothing else is demanded. */
export const minPasswordLength = 8;
/** In UTF-16 code units. */
export const maxPasswordLength = 1024;

/** Why a new password cannot be taken; undefined when it can. */
export function newPasswordRefusal(password: {
  readonly chosen: string;
  readonly repeated: string;
  readonly current: string;
  readonly email: string;
}): string | undefined {
  const { chosen, repeated, current, email } = password;
  if (chosen.length > maxPasswordLength)
    return `The new password is too long: at most ${maxPasswordLength} characters.`;
  const length = [...chosen].length;
  if (length < minPasswordLength)
    return `The new password is too short: it needs at least ${minPasswordLength} characters.`;
  if (chosen !== repeated) return 'The new password was not repeated the same way.';
  if (chosen === current) return 'The new password is the one you have now.';
  if (chosen.toLowerCase() === email.toLowerCase()) return 'Your e-mail address is no password.';
  return undefined;
}
