import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveControl } from '../supervisor/control.ts';
import { readRunningSuite } from './running-suite.ts';

describe('a command that needs a suite', () => {
  it('reports that none is running, or that one is still starting', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'starting-suite-'));
    process.env.SUITE_DEV_DIR = stateDir;
    try {
      await expect(readRunningSuite()).rejects.toThrow('No suite is running');
      const starting = await serveControl(stateDir, () => Promise.resolve({ ready: false }));
      await expect(readRunningSuite()).rejects.toThrow('The suite is starting.');
      starting.close();
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  });
});
