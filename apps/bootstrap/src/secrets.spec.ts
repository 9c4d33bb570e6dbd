import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeSecrets } from './secrets.ts';
import { InvalidInput } from './settings.ts';

const stores = { postgres: 'postgres:5432', redis: 'redis:6379', rabbitmq: 'rabbitmq:5672' };
/** Paths of the files that every run derives from the secrets, some with new salts. */
const derivedFiles =
  /^(postgres\/password|redis\/users\.acl|rabbitmq\/definitions\.json|bootstrap\/.*-database-url)$/;
const definitionsSchema = z.object({
  users: z.array(z.object({ name: z.string(), password_hash: z.string() })),
  permissions: z.array(z.object({ user: z.string(), configure: z.string() })),
});

describe('writeSecrets', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'secrets-'));
    writeSecrets(directory, stores, 'localhost');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** An upgrade, or any other `docker compose up`. */
  const repeat = () => writeSecrets(directory, stores, 'localhost');
  const read = (path: string): string => readFileSync(join(directory, path), 'utf8');
  const remove = (path: string): void => rmSync(join(directory, path));
  function replace(path: string, text: string): void {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, text);
  }
  function allFiles(): Record<string, string> {
    const folders = readdirSync(directory);
    const paths = folders.flatMap((name) =>
      readdirSync(join(directory, name)).map((file) => `${name}/${file}`),
    );
    return Object.fromEntries(paths.map((path) => [path, read(path)]));
  }
  const secretFiles = (): Record<string, string> =>
    Object.fromEntries(Object.entries(allFiles()).filter(([path]) => !derivedFiles.test(path)));
  const passwordAt = (path: string): string => new URL(read(path)).password;

  function expectRedisAccepts(user: string, password: string): void {
    const hash = createHash('sha256').update(password).digest('hex');
    expect(read('redis/users.acl')).toContain(`user ${user} on #${hash} `);
  }
  function expectRabbitmqAccepts(user: string, password: string): void {
    const { users } = definitionsSchema.parse(JSON.parse(read('rabbitmq/definitions.json')));
    const hash = Buffer.from(users.find(({ name }) => name === user)?.password_hash ?? '', 'base64');
    const salted = Buffer.concat([hash.subarray(0, 4), Buffer.from(password)]);
    expect(hash.subarray(4).toString('hex')).toBe(createHash('sha256').update(salted).digest('hex'));
  }

  describe('in a new suite', () => {
    it('gives a service URLs with a user of its own at PostgreSQL, Redis and RabbitMQ', () => {
      expect(read('store-api/database-url')).toMatch(/^postgres:\/\/store:\w{48}@postgres:5432\/store$/);
      expect(read('creator-api/redis-url')).toMatch(/^redis:\/\/creator-api:\w{48}@redis:6379\/0$/);
      expect(read('webhook-worker/rabbitmq-url')).toMatch(
        /^amqp:\/\/webhook-worker:\w{48}@rabbitmq:5672\/%2F$/,
      );
    });

    it('puts the passwords of store-api only into its own folder and the folder of bootstrap', () => {
      const urls = ['store-api/database-url', 'store-api/redis-url', 'store-api/rabbitmq-url'];
      const others = Object.entries(allFiles()).filter(([path]) => !/^(store-api|bootstrap)\//.test(path));
      for (const password of urls.map(passwordAt))
        for (const [, text] of others) expect(text).not.toContain(password);
    });

    it('gives the stores hashes of the passwords that the services have', () => {
      expectRedisAccepts('auth-server', passwordAt('auth-server/redis-url'));
      expectRabbitmqAccepts('auth-server', passwordAt('auth-server/rabbitmq-url'));
      expectRabbitmqAccepts('operator', passwordAt('operator/rabbitmq-url'));
      expect(read('redis/users.acl')).not.toContain(passwordAt('auth-server/redis-url'));
    });

    it('gives the stores the passwords of their administrators', () => {
      expect(read('postgres/password')).toBe(passwordAt('bootstrap/postgres-admin-url'));
      expectRedisAccepts('default', passwordAt('bootstrap/redis-admin-url'));
      expectRabbitmqAccepts('suite', passwordAt('bootstrap/rabbitmq-admin-url'));
    });

    it('writes files that the user of any container can read', () => {
      for (const path of Object.keys(allFiles()))
        expect(statSync(join(directory, path)).mode & 0o777).toBe(0o444);
    });

    it('continues after it was interrupted while it wrote a file', () => {
      const { 'auth-server/cookie-keys': cookies } = allFiles();
      remove('store-api/database-url');
      // The file is read-only, so it must be deleted, not overwritten. Root could overwrite it; then it would
      // keep the mode 0o400.
      writeFileSync(join(directory, 'store-api', 'database-url.new'), 'postg', { mode: 0o400 });
      expect(repeat().generated).toEqual(['store-api/database-url']);
      expect(statSync(join(directory, 'store-api', 'database-url')).mode & 0o777).toBe(0o444);
      expect(read('store-api/database-url')).toMatch(/\/store$/);
      expect(read('auth-server/cookie-keys')).toBe(cookies);
    });
  });

  describe('when a run crashes while it writes a certificate and its key', () => {
    /** Makes calls of a function fail from the call with this number on, during `work`. */
    function crashAt(name: 'writeFileSync' | 'renameSync', number: number, work: () => unknown): void {
      const original = fs[name];
      let calls = 0;
      const failing = jest.spyOn(fs, name).mockImplementation((...args: unknown[]) => {
        calls += 1;
        if (calls >= number) throw new Error('crash');
        return Reflect.apply(original, fs, args);
      });
      syncBuiltinESMExports();
      try {
        work();
      } finally {
        failing.mockRestore();
        syncBuiltinESMExports();
      }
    }

    it.each([
      ['writeFileSync', 1],
      ['writeFileSync', 2],
      ['renameSync', 1],
      ['renameSync', 2],
    ] as const)('gets a certificate and its key at the next run (%s, call %i)', (name, number) => {
      for (const path of ['gateway/tls.crt', 'gateway/tls.key']) remove(path);
      crashAt(name, number, () => expect(repeat).toThrow('crash'));
      repeat();
      const certificate = new X509Certificate(read('gateway/tls.crt'));
      expect(certificate.checkPrivateKey(createPrivateKey(read('gateway/tls.key')))).toBe(true);
    });
  });

  describe('when it is repeated', () => {
    it('changes no secret, and reports that it kept all of them', () => {
      const before = secretFiles();
      const { generated, kept } = repeat();
      expect(secretFiles()).toEqual(before);
      expect(generated).toEqual([]);
      expect([...kept].sort()).toEqual(Object.keys(before).sort());
    });

    it.each([
      ['the certificate', ['gateway/tls.crt', 'gateway/tls.key']],
      ['the key that encrypts signing keys', ['auth-server/key-encryption-key']],
      ['the keys of cookies', ['auth-server/cookie-keys']],
      ['the key that encrypts the secrets of subscriptions', ['webhook-worker/secret-encryption-key']],
      ['the key of quotes', ['store-api/quote-signing-key']],
      ['the key of cursors', ['creator-api/cursor-secret']],
    ])('keeps %s that an operator has replaced', (_secret, paths) => {
      // As in the rotation of a list of keys: the new key, then the old one.
      for (const path of paths) replace(path, `replaced,${read(path)}\n`);
      const before = secretFiles();
      repeat();
      expect(secretFiles()).toEqual(before);
    });

    it('lets the stores accept a password that an operator has replaced', () => {
      replace('store-api/database-url', 'postgres://store:one%2Fnew@postgres:5432/store\n');
      replace('store-api/redis-url', 'redis://store-api:two%2Fnew@redis:6379/0\n');
      replace('store-api/rabbitmq-url', 'amqp://store-api:three%2Fnew@rabbitmq:5672/%2F\n');
      const before = secretFiles();
      repeat();
      expect(secretFiles()).toEqual(before);
      expect(read('bootstrap/store-api-database-url')).toBe(read('store-api/database-url'));
      expectRedisAccepts('store-api', 'two/new');
      expectRabbitmqAccepts('store-api', 'three/new');
    });

    it('gives the second user of a rotation the permissions of the service (docs/runbook.md)', () => {
      replace('webhook-worker/rabbitmq-url', 'amqp://webhook-worker-2:second@rabbitmq:5672/%2F');
      repeat();
      expectRabbitmqAccepts('webhook-worker-2', 'second');
      const { permissions } = definitionsSchema.parse(JSON.parse(read('rabbitmq/definitions.json')));
      expect(permissions.find(({ user }) => user === 'webhook-worker-2')?.configure).toBe(
        '^suite\\.webhook-worker\\.',
      );
    });

    it('generates the secrets of a service that a later version adds, and keeps the others', () => {
      rmSync(join(directory, 'webhook-worker'), { recursive: true });
      const others = secretFiles();
      const { generated } = repeat();
      expect(generated.toSorted()).toEqual([
        'webhook-worker/cursor-secret',
        'webhook-worker/database-url',
        'webhook-worker/rabbitmq-url',
        'webhook-worker/redis-url',
        'webhook-worker/secret-encryption-key',
      ]);
      expect(secretFiles()).toMatchObject(others);
      expectRedisAccepts('webhook-worker', passwordAt('webhook-worker/redis-url'));
      expectRabbitmqAccepts('webhook-worker', passwordAt('webhook-worker/rabbitmq-url'));
      expect(read('bootstrap/webhook-worker-database-url')).toBe(read('webhook-worker/database-url'));
    });

    it('generates a key that a later version adds', () => {
      remove('store-api/quote-signing-key');
      repeat();
      expect(Buffer.from(read('store-api/quote-signing-key'), 'base64')).toHaveLength(32);
    });

    it('generates the password of a store user that a later version adds', () => {
      remove('operator/rabbitmq-url');
      repeat();
      expectRabbitmqAccepts('operator', passwordAt('operator/rabbitmq-url'));
    });
  });

  describe('with a file that cannot be used', () => {
    it.each([
      ['a key is empty', 'auth-server/key-encryption-key', '', /^auth-server\/key-encryption-key is empty/],
      ['a certificate is empty', 'gateway/tls.crt', '', /^gateway\/tls\.crt is empty/],
      ['a URL is damaged', 'store-api/redis-url', 'redis://sto', /^store-api\/redis-url must contain a URL/],
      [
        'a URL has a "%" that encodes nothing',
        'creator-api/database-url',
        'postgres://creator:100%@postgres/creator',
        /^creator-api\/database-url must contain a URL/,
      ],
      [
        'the file of an earlier version is damaged',
        'bootstrap/secrets.json',
        '{"pos',
        /^bootstrap\/secrets\.json is damaged/,
      ],
    ])('changes nothing and names the file when %s', (_case, path, text, message) => {
      remove('store-api/quote-signing-key'); // would be generated
      replace(path, text);
      const before = allFiles();
      expect(repeat).toThrow(InvalidInput);
      expect(repeat).toThrow(message);
      expect(allFiles()).toEqual(before);
    });

    it.each(['gateway/tls.crt', 'gateway/tls.key'])(
      'rejects a certificate when only %s is missing, and does not generate it',
      (path) => {
        remove(path);
        expect(repeat).toThrow('One of gateway/tls.crt and gateway/tls.key is missing');
        expect(existsSync(join(directory, path))).toBe(false);
      },
    );
  });

  describe('after a release that had secrets.json', () => {
    /** `secrets.json`: the first values, which each run of that release wrote into all files. */
    const earlier = {
      postgres: 'administrator-1',
      redis: 'administrator-2',
      rabbitmq: 'administrator-3',
      databases: { 'store-api': 'database-password' },
      users: { 'store-api': 'store-password' },
      keyEncryption: 'first key',
      certificate: { certificate: 'first certificate', key: 'first certificate key' },
    };

    it('keeps the files, and takes missing passwords of administrators from secrets.json', () => {
      remove('bootstrap/redis-admin-url');
      remove('bootstrap/rabbitmq-admin-url');
      replace('bootstrap/secrets.json', JSON.stringify(earlier));
      const before = secretFiles();
      expect(repeat().generated).toEqual(['bootstrap/redis-admin-url', 'bootstrap/rabbitmq-admin-url']);
      expect(secretFiles()).toMatchObject(before);
      expectRedisAccepts('default', 'administrator-2');
      expectRabbitmqAccepts('suite', 'administrator-3');
    });

    it('restores missing files from secrets.json', () => {
      for (const folder of readdirSync(directory)) rmSync(join(directory, folder), { recursive: true });
      replace('bootstrap/secrets.json', JSON.stringify(earlier));
      repeat();
      expect(read('auth-server/key-encryption-key')).toBe('first key');
      expect(read('gateway/tls.key')).toBe('first certificate key');
      expect(passwordAt('bootstrap/postgres-admin-url')).toBe('administrator-1');
      expect(passwordAt('store-api/database-url')).toBe('database-password');
      expectRedisAccepts('store-api', 'store-password');
      expectRabbitmqAccepts('store-api', 'store-password');
      expect(read('bootstrap/secrets.json')).toBe(JSON.stringify(earlier));
    });
  });
});
