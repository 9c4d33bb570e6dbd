import { jest } from '@jest/globals';
import type { z } from 'zod';
import { exitCodeConfig, readConfig } from './read-config.js';

/** Expects that a program with these settings exits with status 78, and returns what it prints before. */
export function printedProblems(schema: z.ZodType, environment: Readonly<Record<string, string>>): string {
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('exited');
  });
  const written: string[] = [];
  const stderr = jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  expect(() => readConfig(schema, environment)).toThrow('exited');
  expect(exit).toHaveBeenCalledWith(exitCodeConfig);
  exit.mockRestore();
  stderr.mockRestore();
  return written.join('');
}
