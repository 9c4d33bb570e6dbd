import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root, type Settings, toolArguments } from './settings.ts';

const messageSchema = z.object({ line: z.string().optional(), ready: z.boolean().optional() });
type Message = z.infer<typeof messageSchema>;

/** Sends progress to the terminal that waits for a detached suite, if any. */
export function notifyStarter(message: Message): void {
  if (!process.connected) return;
  process.send?.(message, undefined, undefined, () => {
    if (message.ready === true && process.connected) process.disconnect();
  });
}

/** Starts the suite in a separate session, and ends this process when it is ready or has failed. */
export function startDetached(settings: Settings, args: readonly string[]): Promise<never> {
  const logs = join(settings.stateDir, 'logs');
  mkdirSync(logs, { recursive: true });
  const output = openSync(join(logs, 'supervisor.log'), 'a', 0o600);
  const child = spawn(process.execPath, toolArguments('dev/start.ts', ...args, '--detached'), {
    cwd: root,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill('SIGTERM'));
  return new Promise(() => {
    child.on('message', (raw) => {
      const message = messageSchema.parse(raw);
      if (message.line !== undefined) console.log(message.line);
      if (message.ready === true) process.exit(0);
    });
    child.once('exit', (code) => process.exit(code || 1)); // an exit before `ready` is a failure, even with 0
  });
}
