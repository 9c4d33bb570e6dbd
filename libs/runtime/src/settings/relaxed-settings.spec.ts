import { createLogger } from '../logger.js';
import { metrics } from '../metrics.js';
import { hasLoopbackHost, relaxedServiceSettings, reportRelaxedSettings } from './relaxed-settings.js';

const relaxedMetric = async () => (await metrics.getSingleMetric('relaxed_settings')?.get())?.values;

describe('relaxed settings', () => {
  it('are logged once each with a plain sentence and shown as a metric', async () => {
    const lines: string[] = [];
    const logger = createLogger('any', 'warn', { write: (line) => void lines.push(line) });
    reportRelaxedSettings([{ setting: 'SAFETY', consequence: 'The safety is off.' }], logger);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', setting: 'SAFETY', message: 'The safety is off.' },
    ]);
    expect(await relaxedMetric()).toEqual([{ labels: { setting: 'SAFETY' }, value: 1 }]);
  });

  it('include BASE_URL and AUTH_URL with plain http, also on localhost', () => {
    const settingsOf = (BASE_URL: string, AUTH_URL: string) =>
      relaxedServiceSettings({ BASE_URL, AUTH_URL }).map(({ setting }) => setting);
    expect(settingsOf('https://suite.example', 'https://suite.example')).toEqual([]);
    expect(settingsOf('https://suite.example', 'http://suite.example')).toEqual(['AUTH_URL']);
    expect(settingsOf('http://localhost', 'http://localhost')).toEqual(['BASE_URL', 'AUTH_URL']);
  });
});

describe('a loopback host', () => {
  it.each([
    'https://localhost:8443',
    'https://a.localhost',
    'http://127.0.0.1',
    'http://127.9.9.9:1',
    'http://[::1]:8443',
  ])('is recognised in %s', (url) => expect(hasLoopbackHost(url)).toBe(true));

  it.each([
    'https://suite.example',
    'https://127.0.0.1.example',
    'https://notlocalhost',
    'http://[::2]',
    'http://10.0.0.1',
    'https://localhost.example',
  ])('is not recognised in %s', (url) => expect(hasLoopbackHost(url)).toBe(false));
});
