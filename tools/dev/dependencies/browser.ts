import { findProgram } from '../run-program.ts';

/** Chromium under one of the names it goes by. */
export function findBrowser(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const program = findProgram(name);
    if (program !== undefined) return program;
  }
  return undefined;
}
