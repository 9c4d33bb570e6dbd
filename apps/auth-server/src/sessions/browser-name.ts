import Bowser from 'bowser';

/** Returns the common name of a browser, such as "Firefox on Linux". */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown browser';
  const parser = Bowser.getParser(userAgent);
  const browser = parser.getBrowserName();
  const system = parser.getOSName();
  if (browser === '') return 'Unknown browser';
  return system === '' ? browser : `${browser} on ${system}`;
}
