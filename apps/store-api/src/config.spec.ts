import { storeApiSettings } from './config.js';

const needed = {
  PORT: '0',
  INTERNAL_PORT: '0',
  DATABASE_URL: 'postgres://localhost/store',
  REDIS_URL: 'redis://localhost',
  RABBITMQ_URL: 'amqp://localhost',
  BASE_URL: 'https://suite.example',
  AUTH_URL: 'https://suite.example',
  CURSOR_SECRET: 'x'.repeat(32),
};
const stripe = { PAYMENT_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'sk_test_standin' };
const refused = (given: Readonly<Record<string, string | undefined>>) =>
  storeApiSettings.safeParse({ ...needed, ...given }).error?.issues.map(({ path }) => path.join('.'));

describe('the settings of the store-api', () => {
  it('charges nobody unless told to', () => {
    expect(storeApiSettings.parse(needed).PAYMENT_PROVIDER).toBe('sandbox');
    expect(refused({ PAYMENT_PROVIDER: 'stripe' })).toEqual(['STRIPE_SECRET_KEY']);
    expect(refused({ ...stripe, STRIPE_SECRET_KEY: 'pk_test_public' })).toEqual(['STRIPE_SECRET_KEY']);
    expect(refused(stripe)).toBeUndefined();
  });

  it('waits for the provider no longer than a process has to stop', () => {
    expect(refused({ PAYMENT_TIMEOUT_MS: '15000' })).toBeUndefined();
    expect(refused({ PAYMENT_TIMEOUT_MS: '15001' })).toEqual(['PAYMENT_TIMEOUT_MS']);
  });

  it.each([{}, { NODE_ENV: 'production' }, { NODE_ENV: 'development' }])(
    'takes what is made for tests in tests only (%j)',
    (environment) => {
      const plain = { ...stripe, STRIPE_API_URL: 'http://127.0.0.1:1' };
      expect(refused({ ...environment, FAULT_POINT: 'charged' })).toEqual(['FAULT_POINT']);
      expect(refused({ ...environment, ...plain })).toEqual(['STRIPE_API_URL']);
      expect(refused({ ...plain, NODE_ENV: 'test', FAULT_POINT: 'charged' })).toBeUndefined();
    },
  );
});
