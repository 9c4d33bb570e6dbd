/** Replaces control and format characters, so that a text from outside cannot affect the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
