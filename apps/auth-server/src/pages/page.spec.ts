import { html } from '@fulfilment/http-service';
import { formActionSource } from './page.js';

it('escapes what is inserted, in content and in attributes', () => {
  const bad = `"><script>'&`;
  expect(html`<p title="${bad}">${bad}</p>`.text).toBe(
    '<p title="&quot;&gt;&lt;script&gt;&#39;&amp;">&quot;&gt;&lt;script&gt;&#39;&amp;</p>',
  );
  expect(html`${[html`<b>${'<'}</b>`]}${undefined}${7}`.text).toBe('<b>&lt;</b>7');
});

it.each([
  ['https://app.example/callback?x=1', 'https://app.example'],
  ['http://127.0.0.1:8976/callback', 'http://127.0.0.1:8976'],
  ['http://[::1]:8976/callback', 'http:'],
  ['com.example.app:/callback', 'com.example.app:'],
])('lets forms redirect to %s by the source %s of form-action', (uri, source) => {
  expect(formActionSource(uri)).toBe(source);
});
