import { storeUrl } from '@fulfilment/testing';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolArguments } from './settings.ts';

describe('npm start', () => {
  let stateDir = '';
  const run = (file: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, toolArguments(`dev/${file}`, ...args), {
      encoding: 'utf8',
      env: {
        ...process.env,
        SUITE_DEV_DIR: stateDir,
        POSTGRES_URL: storeUrl('TEST_POSTGRES_URL'),
        REDIS_URL: storeUrl('TEST_REDIS_URL'),
        RABBITMQ_URL: storeUrl('TEST_RABBITMQ_URL'),
      },
    });

  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'start-'));
  });
  afterEach(() => {
    run('stop.ts');
    rmSync(stateDir, { recursive: true, force: true });
  });

  it('lists its options when it gets an unknown one', () => {
    const { status, stderr } = run('start.ts', '--bogus');
    expect(status).toBe(1);
    expect(stderr).toContain("Unknown option '--bogus'");
    expect(stderr).toContain('npm start -- --detach');
  });

  it('keeps a suite with only its dependencies in the background with --dependencies --detach', () => {
    expect(run('start.ts', '--dependencies', '--detach')).toMatchObject({ status: 0 });
    expect(JSON.parse(run('stack.ts', 'status', '--json').stdout)).toEqual(
      ['postgres', 'redis', 'rabbitmq'].map((name) => expect.objectContaining({ name, state: 'external' })),
    );
  });
});
