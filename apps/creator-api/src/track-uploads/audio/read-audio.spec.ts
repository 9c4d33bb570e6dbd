import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { InvalidAudio } from './invalid-audio.js';
import { ReadAudio } from './read-audio.js';

/** A thread program for a test. */
const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const post = (message: object) =>
  `import { parentPort } from 'node:worker_threads'; parentPort.postMessage(${JSON.stringify(message)});`;
const file = { fd: 0, size: 0 };
const never = new AbortController().signal;

const compiled = pathToFileURL(
  join(import.meta.dirname, '../../../dist/track-uploads/audio/read-audio.js'),
).href;
/**
 * A program that aborts after the threads have failed but before their error events are handled. It runs in a
 * separate process, since Jest survives unhandled errors and a service does not.
 */
const aborting = `
  import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { ReadAudio } from '${compiled}';
  const directory = mkdtempSync(tmpdir() + '/read-audio-');
  const failing = 'import { writeFileSync } from "node:fs"; import { threadId } from "node:worker_threads";'
    + 'process.on("exit", () => writeFileSync("' + directory + '/" + threadId, "")); throw new Error("unforeseen");';
  const program = new URL('data:text/javascript,' + encodeURIComponent(failing));
  const controller = new AbortController();
  const readings = Array.from({ length: 5 }, () => new ReadAudio(program).run({ fd: 0, size: 0 }, controller.signal));
  await new Promise((resolve) => setImmediate(resolve)); // the threads were started
  while (readdirSync(directory).length < readings.length); // blocks the event loop until all have failed
  controller.abort(new Error('Stopping.'));
  for (const { reason } of await Promise.allSettled(readings)) console.log(reason.message);
  rmSync(directory, { recursive: true });
`;

describe('the audio worker thread', () => {
  it('reports why a file is rejected', async () => {
    const reader = new ReadAudio(program(post({ rejected: { code: 'not_audio', message: 'No.' } })));
    await expect(reader.run(file, never)).rejects.toThrow(new InvalidAudio('not_audio', 'No.'));
  });

  it('stops when the signal aborts', async () => {
    const reader = new ReadAudio(program('for (;;);'));
    const controller = new AbortController();
    const reading = reader.run(file, controller.signal);
    controller.abort(new Error('Stopping.'));
    await expect(reading).rejects.toThrow('Stopping.');
  });

  it('does not crash the service when it fails at the same time as the signal aborts', async () => {
    const service = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', aborting]);
    expect(await service).toEqual({ stdout: 'Stopping.\n'.repeat(5), stderr: '' });
  });

  it('does not crash the service when a file exhausts its memory', async () => {
    const reader = new ReadAudio(program('const all = []; for (;;) all.push(new Array(100000).fill({}));'));
    await expect(reader.run(file, never)).rejects.toMatchObject({ code: 'broken' });
  });

  it('distinguishes an internal error from an invalid file', async () => {
    const reader = new ReadAudio(program("throw new Error('unforeseen');"));
    const failure: unknown = await reader.run(file, never).catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(InvalidAudio);
    expect(String(failure)).toContain('unforeseen');
  });
});
