import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Starts the Chromium that is installed on this machine. The caller closes it. */
export function openChromium(): Promise<Browser> {
  // Tests run as root in containers, where Chromium's sandbox cannot start. They open only our own pages.
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
}

function chromiumPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
  if (path === undefined) throw new Error('There is no Chromium on this machine; "npm test" installs it.');
  return path;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
