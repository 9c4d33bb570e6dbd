import { browserName } from './browser-name.js';

it.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['node', 'Unknown browser'],
  ['', 'Unknown browser'],
  [null, 'Unknown browser'],
])('the browser name of the user agent %s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
