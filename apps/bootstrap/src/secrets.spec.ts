import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSecrets } from './secrets.ts';

const stores = { postgres: 'postgres:5432', redis: 'redis:6379', rabbitmq: 'rabbitmq:5672' };

describe('writeSecrets', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  const read = (path: string): string => readFileSync(join(directory, path), 'utf8');
  beforeAll(() => writeSecrets(directory, stores, 'localhost'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('gives each service URLs with its own user at each store', () => {
    expect(read('store-api/database-url')).toMatch(/^postgres:\/\/store:\w{48}@postgres:5432\/store$/);
    expect(read('creator-api/redis-url')).toMatch(/^redis:\/\/creator-api:\w{48}@redis:6379\/0$/);
    expect(read('webhook-worker/rabbitmq-url')).toMatch(
      /^amqp:\/\/webhook-worker:\w{48}@rabbitmq:5672\/%2F$/,
    );
  });

  it('puts no secret of a service into the folder of another container', () => {
    const password = /:(\w{48})@/.exec(read('store-api/database-url'))?.[1] ?? 'none';
    const folders = readdirSync(directory).filter((name) => name !== 'store-api' && name !== 'bootstrap');
    for (const folder of folders)
      for (const file of readdirSync(join(directory, folder)))
        expect(read(join(folder, file))).not.toContain(password);
  });

  it('gives the stores hashes of the passwords that the services have', () => {
    const password = /:(\w{48})@/.exec(read('auth-server/redis-url'))?.[1] ?? 'none';
    const hash = createHash('sha256').update(password).digest('hex');
    expect(read('redis/users.acl')).toContain(`user auth-server on #${hash} `);
    expect(read('redis/users.acl')).not.toContain(password);
  });

  it('keeps the secrets when it is repeated', () => {
    const before = [read('store-api/database-url'), read('auth-server/cookie-keys'), read('gateway/tls.key')];
    writeSecrets(directory, stores, 'localhost');
    expect([
      read('store-api/database-url'),
      read('auth-server/cookie-keys'),
      read('gateway/tls.key'),
    ]).toEqual(before);
  });

  it('adds a secret that an earlier version did not have', () => {
    const file = join(directory, 'bootstrap', 'secrets.json');
    const { quoteSigning: _, ...earlier } = JSON.parse(readFileSync(file, 'utf8'));
    const cookies = read('auth-server/cookie-keys');
    rmSync(file);
    writeFileSync(file, JSON.stringify(earlier));
    writeSecrets(directory, stores, 'localhost');
    expect(Buffer.from(read('store-api/quote-signing-key'), 'base64')).toHaveLength(32);
    expect(read('auth-server/cookie-keys')).toBe(cookies);
  });

  it('continues after it was interrupted while it wrote a file', () => {
    // Its own user cannot write to a file of mode 0444; the mode shows it to a test that runs as root.
    writeFileSync(join(directory, 'store-api', 'database-url.new'), 'postg', { mode: 0o400 });
    writeSecrets(directory, stores, 'localhost');
    expect(statSync(join(directory, 'store-api', 'database-url')).mode & 0o777).toBe(0o444);
    expect(read('store-api/database-url')).toMatch(/\/store$/);
  });

  it('writes files that the user of any container can read', () => {
    expect(statSync(join(directory, 'gateway', 'tls.key')).mode & 0o777).toBe(0o444);
  });
});
