import { randomBytes } from 'node:crypto';
import { relaxedStoreApiSettings, storeApiSettings } from './config.js';

const required = {
  PORT: '0',
  INTERNAL_PORT: '0',
  DATABASE_URL: 'postgres://localhost/store',
  REDIS_URL: 'redis://localhost',
  RABBITMQ_URL: 'amqp://localhost',
  BASE_URL: 'https://suite.example',
  AUTH_URL: 'https://suite.example',
  CURSOR_SECRET: 'x'.repeat(32),
  QUOTE_SIGNING_KEY: randomBytes(32).toString('base64'),
  PAYMENT_PROVIDER: 'sandbox',
};
const stripe = { PAYMENT_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'sk_live_example' };
const rejectedSettings = (given: Readonly<Record<string, string | undefined>>) =>
  storeApiSettings.safeParse({ ...required, ...given }).error?.issues.map(({ path }) => path.join('.'));

describe('the settings of the store-api', () => {
  it('require the payment provider, so that orders do not count as paid by accident', () => {
    expect(rejectedSettings({ PAYMENT_PROVIDER: undefined })).toEqual(['PAYMENT_PROVIDER']);
    expect(rejectedSettings({ PAYMENT_PROVIDER: undefined, NODE_ENV: 'development' })).toEqual([
      'PAYMENT_PROVIDER',
    ]);
  });

  it('report NODE_ENV=test and sandbox payments as relaxed, but not Stripe in production', () => {
    const relaxed = (given: Readonly<Record<string, string>>) =>
      relaxedStoreApiSettings(storeApiSettings.parse({ ...required, ...given })).map(
        ({ setting }) => setting,
      );
    expect(relaxed({ NODE_ENV: 'test' })).toEqual(['NODE_ENV', 'PAYMENT_PROVIDER']);
    expect(relaxed({ NODE_ENV: 'production' })).toEqual(['PAYMENT_PROVIDER']);
    expect(relaxed(stripe)).toEqual([]);
  });

  it("require Stripe's secret key when Stripe is the provider", () => {
    expect(rejectedSettings({ PAYMENT_PROVIDER: 'stripe' })).toEqual(['STRIPE_SECRET_KEY']);
    expect(rejectedSettings({ ...stripe, STRIPE_SECRET_KEY: 'pk_test_public' })).toEqual([
      'STRIPE_SECRET_KEY',
    ]);
    expect(rejectedSettings(stripe)).toBeUndefined();
  });

  it.each(['sk_test_example', 'rk_test_example'])(
    'reject the test key %s unless it is allowed, which is reported as relaxed',
    (key) => {
      const testKey = { ...stripe, STRIPE_SECRET_KEY: key };
      expect(rejectedSettings(testKey)).toEqual(['STRIPE_SECRET_KEY']);
      expect(rejectedSettings({ ...testKey, STRIPE_ALLOW_TEST_KEY: 'true' })).toBeUndefined();
      const relaxed = relaxedStoreApiSettings(
        storeApiSettings.parse({ ...required, ...testKey, STRIPE_ALLOW_TEST_KEY: 'true' }),
      );
      expect(relaxed.map(({ setting }) => setting)).toEqual(['STRIPE_ALLOW_TEST_KEY']);
    },
  );

  it("accept several signing secrets of Stripe's webhooks, for rotation, and nothing else", () => {
    const rejectedWith = (value: string) => rejectedSettings({ ...stripe, STRIPE_WEBHOOK_SECRET: value });
    expect(rejectedWith('whsec_example_new')).toBeUndefined();
    expect(rejectedWith('whsec_example_new,whsec_example_old')).toBeUndefined();
    for (const value of ['', 'sk_live_example', 'whsec_example_new,', 'whsec_example_new whsec_example_old'])
      expect(rejectedWith(value)).toEqual(['STRIPE_WEBHOOK_SECRET']);
  });

  it('limit the payment timeout to 15 s, so that a waiting request ends within the time of a shutdown', () => {
    expect(rejectedSettings({ PAYMENT_TIMEOUT_MS: '15000' })).toBeUndefined();
    expect(rejectedSettings({ PAYMENT_TIMEOUT_MS: '15001' })).toEqual(['PAYMENT_TIMEOUT_MS']);
  });

  it.each([{}, { NODE_ENV: 'production' }, { NODE_ENV: 'development' }])(
    'accept settings for tests only in tests (%j)',
    (environment) => {
      const plainHttp = { ...stripe, STRIPE_API_URL: 'http://127.0.0.1:1' };
      expect(rejectedSettings({ ...environment, FAULT_POINT: 'charged' })).toEqual(['FAULT_POINT']);
      expect(rejectedSettings({ ...environment, ...plainHttp })).toEqual(['STRIPE_API_URL']);
      expect(rejectedSettings({ ...plainHttp, NODE_ENV: 'test', FAULT_POINT: 'charged' })).toBeUndefined();
    },
  );
});
