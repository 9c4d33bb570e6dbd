import { spawn } from 'node:child_process';

const commands: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Tries to open the address. It is also printed for the person, so a failure does not matter. */
export function openBrowser(address: string): void {
  const command = commands[process.platform] ?? ['xdg-open'];
  const [program = '', ...args] = command;
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
