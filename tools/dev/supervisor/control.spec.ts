import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { control, serveControl } from './control.ts';

describe('the control socket of a suite', () => {
  let stateDir: string;
  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'control-'));
  });
  afterEach(() => rmSync(stateDir, { recursive: true }));

  it('responds with the reason when a command throws before it returns a promise', async () => {
    const server = await serveControl(stateDir, () => {
      throw new Failure('The suite is starting.');
    });
    await expect(control(stateDir, 'status')).rejects.toThrow('The suite is starting.');
    server.close();
  });

  it('is not opened for a second suite or where sockets are impossible, and the error says why', async () => {
    const server = await serveControl(stateDir, () => Promise.resolve());
    const second = serveControl(stateDir, () => Promise.resolve());
    await expect(second).rejects.toThrow(`Another suite is starting or running in ${stateDir}.`);
    server.close();
    const withoutSockets = serveControl('/proc/self', () => Promise.resolve()); // no files can be created
    await expect(withoutSockets).rejects.toThrow('The control socket could not be opened: listen E');
  });
});
