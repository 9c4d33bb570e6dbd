import { describe, expect, it } from '@jest/globals';
import { portsFrom } from './ports.ts';
import { serviceEnvironment } from './services.ts';
import { commandFor, readSettings, readSeparateSettings } from './settings.ts';

const key = 'k';
const secrets = {
  postgresPassword: key,
  redisPassword: key,
  rabbitmqPassword: key,
  databasePasswords: { store: 'store-password', creator: key, auth: key, webhooks: key },
  warehousePassword: key,
  cursorSecret: key,
  keyEncryptionKey: key,
  storePasswords: {
    'store-api': 'store-password',
    'creator-api': key,
    'auth-server': key,
    'webhook-worker': key,
    operator: key,
  },
  secretEncryptionKey: key,
  quoteSigningKey: key,
  cookieKeys: key,
};

function serviceEnvironmentFor(callersSettings: Record<string, string>): Record<string, string> {
  return serviceEnvironment('store-api', {
    settings: readSettings(callersSettings),
    ports: portsFrom(8443),
    secrets,
    dependencyUrls: {
      postgres: 'postgres://suite:admin@127.0.0.1:8464/postgres',
      redis: 'redis://127.0.0.1:8465',
      rabbitmq: 'amqp://127.0.0.1:8466',
    },
    trustFile: '/ca.pem',
    codeDirs: new Map(),
  });
}

describe('the environment of a service', () => {
  it('has its own user of RabbitMQ and Redis', () => {
    const { RABBITMQ_URL, REDIS_URL } = serviceEnvironmentFor({});
    expect(RABBITMQ_URL).toBe('amqp://store-api:store-password@127.0.0.1:8466');
    expect(REDIS_URL).toBe('redis://store-api:store-password@127.0.0.1:8465');
  });

  it('gets the only user of an external RabbitMQ or Redis', () => {
    const { RABBITMQ_URL, REDIS_URL } = serviceEnvironmentFor({
      RABBITMQ_URL: 'amqp://x',
      REDIS_URL: 'redis://x',
    });
    expect(RABBITMQ_URL).toBe('amqp://127.0.0.1:8466');
    expect(REDIS_URL).toBe('redis://127.0.0.1:8465');
  });

  it('has the settings of npm start, which override defaults', () => {
    const environment = serviceEnvironmentFor({
      WEBHOOK_RETRY_SCHEDULE_MS: '0,400,800',
      ALLOW_LOOPBACK_TARGETS: 'false',
    });
    expect(environment.WEBHOOK_RETRY_SCHEDULE_MS).toBe('0,400,800');
    expect(environment.ALLOW_LOOPBACK_TARGETS).toBe('false');
  });

  it("keeps the addresses of the suite, whatever the caller's shell contains", () => {
    const environment = serviceEnvironmentFor({
      PORT: '1',
      HOST: 'evil',
      DATABASE_URL: 'postgres://elsewhere/x',
    });
    expect(environment.PORT).toBe('8444');
    expect(environment.HOST).toBe('127.0.0.1');
    expect(environment.DATABASE_URL).toBe('postgres://store:store-password@127.0.0.1:8464/store');
  });

  it('does not contain POSTGRES_URL, since its user can change all databases', () => {
    expect(serviceEnvironmentFor({ POSTGRES_URL: 'postgres://root:secret@db/x' })).not.toHaveProperty(
      'POSTGRES_URL',
    );
  });
});

describe('a command for a suite', () => {
  it.each([
    ['.dev', 'npm stop'],
    ['.dev/second', 'SUITE_DEV_DIR=.dev/second npm stop'],
    ['/srv/suite', 'SUITE_DEV_DIR=/srv/suite npm stop'],
    ["it's mine", "SUITE_DEV_DIR='it'\\''s mine' npm stop"],
  ])('in %s is written as it must be typed', (dir, typed) => {
    expect(commandFor(readSettings({ SUITE_DEV_DIR: dir }).stateDir, 'npm stop')).toBe(typed);
  });
});

describe('settings of npm start', () => {
  it('have a base port with a default, and reject an invalid one', () => {
    expect(readSettings({}).basePort).toBe(8443);
    expect(readSeparateSettings('test', {}).basePort).toBe(18443);
    expect(() => readSettings({ SUITE_BASE_PORT: '80' })).toThrow('SUITE_BASE_PORT');
    expect(() => readSettings({ SUITE_BASE_PORT: '8443x' })).toThrow('SUITE_BASE_PORT');
  });
});
