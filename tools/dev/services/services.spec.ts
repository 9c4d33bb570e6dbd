import { portsFrom } from '../ports.ts';
import { serviceEnvironment } from './services.ts';
import { readSettings } from '../settings.ts';

const key = 'unused';
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

const ownDependencies = {
  postgres: 'postgres://suite:admin@127.0.0.1:8464/postgres',
  redis: 'redis://127.0.0.1:8465',
  rabbitmq: 'amqp://127.0.0.1:8466',
};

function serviceEnvironmentFor(
  environment: Record<string, string>,
  dependencyUrls = ownDependencies,
): Record<string, string> {
  return serviceEnvironment('store-api', {
    settings: readSettings(environment),
    ports: portsFrom(8443),
    secrets,
    dependencyUrls,
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

  it('has the URL of an external RabbitMQ or Redis unchanged, with its only user', () => {
    const external = { RABBITMQ_URL: 'amqp://user@mq.example', REDIS_URL: 'redis://user@redis.example' };
    const urls = { ...ownDependencies, rabbitmq: external.RABBITMQ_URL, redis: external.REDIS_URL };
    expect(serviceEnvironmentFor(external, urls)).toMatchObject(external);
  });

  it('has the settings of npm start, which override defaults', () => {
    const environment = serviceEnvironmentFor({
      WEBHOOK_RETRY_SCHEDULE_MS: '0,400,800',
      ALLOW_LOOPBACK_TARGETS: 'false',
    });
    expect(environment.WEBHOOK_RETRY_SCHEDULE_MS).toBe('0,400,800');
    expect(environment.ALLOW_LOOPBACK_TARGETS).toBe('false');
  });

  it('has the addresses of the suite, even if the shell of npm start sets others', () => {
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
