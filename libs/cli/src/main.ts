#!/usr/bin/env node
import { SignInRequiredError } from '@fulfilment/client/store';
import { CommanderError } from 'commander';
import { createProgram } from './program.js';
import { stopHandler } from './stop-handler.js';
import { type Terminal, UsageError } from './terminal.js';

const terminal: Terminal = {
  result: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
};

/** Returns the exit status (docs/client.md). */
async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const requestStop = stopHandler(stop, () => process.exit(1));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, requestStop);
  process.stdout.on('error', () => stop.abort()); // the reader has exited: `… | head -1`
  const program = createProgram({
    terminal,
    environment: process.env,
    signal: stop.signal,
    registerResend: (resend) => readKeys({ r: resend, '\u0003': requestStop }),
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, stop.signal);
  }
}

/**
 * Prints the error and returns the exit status. After the person has stopped the program, errors other than
 * a missing sign-in result from the stop, and are not printed.
 */
function reportError(error: unknown, stopped: AbortSignal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // it has printed the reason
  if (error instanceof SignInRequiredError) {
    terminal.note(`${error.message} Sign in first: fulfilment login`);
    return 3;
  }
  if (stopped.aborted) return 1;
  terminal.note(error instanceof Error ? describe(error) : String(error));
  return error instanceof UsageError ? 2 : 1;
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}

/** Calls the function of each key that is pressed. In raw mode, a terminal sends Ctrl-C as a key. */
function readKeys(keys: Readonly<Record<string, () => void>>): void {
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.setEncoding('utf8').on('data', (text: string) => {
    for (const key of text) if (Object.hasOwn(keys, key)) keys[key]?.();
  });
  stdin.on('error', () => undefined);
}

process.exit(await main(process.argv.slice(2)));
