import { serviceSettings } from '@fulfilment/runtime';
import { z } from 'zod';
import {
  guardedClientSettings,
  rejectLoopbackTargetsOfPublicSuite,
  relaxedTargetSettings,
} from './settings.js';

const schema = serviceSettings
  .pick({ BASE_URL: true })
  .extend(guardedClientSettings)
  .superRefine(rejectLoopbackTargetsOfPublicSuite);
const rejectedSettings = (BASE_URL: string, ALLOW_LOOPBACK_TARGETS: string) =>
  schema.safeParse({ BASE_URL, ALLOW_LOOPBACK_TARGETS }).error?.issues.map(({ path }) => path.join('.'));

describe('BLOCKED_NETWORKS', () => {
  const parse = (text: string) => z.object(guardedClientSettings).safeParse({ BLOCKED_NETWORKS: text });

  it('lists networks in CIDR form', () => {
    expect(parse('10.1.0.0/16,2001:db8::/32').data).toMatchObject({
      BLOCKED_NETWORKS: ['10.1.0.0/16', '2001:db8::/32'],
    });
    expect(parse('').data).toMatchObject({ BLOCKED_NETWORKS: [] });
    expect(parse('10.0.0.0/8, 11.0.0.0/8').data).toMatchObject({
      BLOCKED_NETWORKS: ['10.0.0.0/8', '11.0.0.0/8'],
    });
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8 11.0.0.0/8', 'intranet/8', '2001:db8::/129'])(
    'is rejected, with the required form, when it is "%s"',
    (text) => {
      expect(parse(text).error?.issues).toMatchObject([
        { path: ['BLOCKED_NETWORKS'], message: 'must be networks in CIDR form, separated by commas' },
      ]);
    },
  );
});

describe('ALLOW_LOOPBACK_TARGETS', () => {
  it.each(['https://localhost:8443', 'https://suite.localhost', 'http://127.0.0.1:8443', 'https://[::1]'])(
    'may be true if the suite is at %s',
    (baseUrl) => expect(rejectedSettings(baseUrl, 'true')).toBeUndefined(),
  );

  it.each(['https://suite.example', 'https://10.0.0.7', 'https://localhost.example'])(
    'is rejected if the suite is at %s',
    (baseUrl) => {
      expect(rejectedSettings(baseUrl, 'true')).toEqual(['ALLOW_LOOPBACK_TARGETS']);
      expect(rejectedSettings(baseUrl, 'false')).toBeUndefined();
    },
  );

  it('is reported as a relaxed setting while it is true', () => {
    expect(relaxedTargetSettings({ ALLOW_LOOPBACK_TARGETS: true })).toMatchObject([
      { setting: 'ALLOW_LOOPBACK_TARGETS' },
    ]);
    expect(relaxedTargetSettings({ ALLOW_LOOPBACK_TARGETS: false })).toEqual([]);
  });
});
