import { findProgram } from '../run-program.ts';

/** Returns the path of Chromium, which has several program names. */
export function findBrowser(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const program = findProgram(name);
    if (program !== undefined) return program;
  }
  return undefined;
}
