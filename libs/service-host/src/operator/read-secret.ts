import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Reads a secret from standard input: typed at a prompt without echo, or the first line of piped input. As an
 * argument, it would be visible to other users of the machine and in the shell's history.
 */
export async function readSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return (await text(stdin)).split(/\r?\n/, 1)[0] ?? '';
  stderr.write(`${prompt}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve) => {
      terminal.question('', resolve);
      terminal.once('close', () => resolve('')); // Ctrl-C or Ctrl-D
    });
  } finally {
    terminal.close();
    stderr.write('\n');
  }
}
