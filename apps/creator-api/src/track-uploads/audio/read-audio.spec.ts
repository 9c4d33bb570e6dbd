import { AudioRefused } from './audio-refused.js';
import { ReadAudio } from './read-audio.js';

/** A thread's program of the test's own. */
const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const post = (message: object) =>
  `import { parentPort } from 'node:worker_threads'; parentPort.postMessage(${JSON.stringify(message)});`;
const file = { fd: 0, size: 0 };
const never = new AbortController().signal;

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
