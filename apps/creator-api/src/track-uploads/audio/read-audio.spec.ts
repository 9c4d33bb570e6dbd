import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AudioRefused } from './audio-refused.js';
import { ReadAudio } from './read-audio.js';

/** A thread's program of the test's own. */
const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const post = (message: object) =>
  `import { parentPort } from 'node:worker_threads'; parentPort.postMessage(${JSON.stringify(message)});`;
const file = { fd: 0, size: 0 };
const never = new AbortController().signal;

/** Jest survives errors that nobody handles; a service does not. */
const compiled = pathToFileURL(
  join(import.meta.dirname, '../../../dist/track-uploads/audio/read-audio.js'),
).href;
/** Aborts when threads have failed and said so, before that is heard: the first of five has when the last one fails. */
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
  while (readdirSync(directory).length < readings.length); // nothing is heard of them meanwhile
  controller.abort(new Error('Stopping.'));
  for (const { reason } of await Promise.allSettled(readings)) console.log(reason.message);
  rmSync(directory, { recursive: true });
`;

describe('the thread that reads audio', () => {
  it('says why a file is refused', async () => {
    const reader = new ReadAudio(program(post({ refused: { code: 'not_audio', message: 'No.' } })));
    await expect(reader.run(file, never)).rejects.toThrow(new AudioRefused('not_audio', 'No.'));
  });

  it('ends when nobody wants its answer any more', async () => {
    const reader = new ReadAudio(program('for (;;);'));
    const controller = new AbortController();
    const reading = reader.run(file, controller.signal);
    controller.abort(new Error('Stopping.'));
    await expect(reading).rejects.toThrow('Stopping.');
  });

  it('does not take the service with it when it fails just as nobody wants its answer any more', async () => {
    const service = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', aborting]);
    expect(await service).toEqual({ stdout: 'Stopping.\n'.repeat(5), stderr: '' });
  });

  it('does not take the service with it when a file takes all its memory', async () => {
    const reader = new ReadAudio(program('const all = []; for (;;) all.push(new Array(100000).fill({}));'));
    await expect(reader.run(file, never)).rejects.toMatchObject({ code: 'broken' });
  });

  it('tells a fault of ours from a fault of the file', async () => {
    const reader = new ReadAudio(program("throw new Error('unforeseen');"));
    const fault: unknown = await reader.run(file, never).catch((error: unknown) => error);
    expect(fault).not.toBeInstanceOf(AudioRefused);
    expect(String(fault)).toContain('unforeseen');
  });
});
