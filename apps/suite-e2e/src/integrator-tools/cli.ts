import { eventually } from '@fulfilment/testing';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root, stateDir, suite } from '../suite/the-suite.js';

/**
 * Starts the built `fulfilment` of libs/cli, with its files in the given directory.
 * @param secret value of HOOK_SECRET, which a file of subscriptions can name
 */
export function runCli(configDir: string, args: readonly string[], secret = '') {
  const child = spawn(process.execPath, [join(root, 'libs/cli/dist/main.js'), ...args], {
    env: {
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
      ...process.env,
      SUITE_DEV_DIR: stateDir,
      NODE_OPTIONS: '',
      NODE_EXTRA_CA_CERTS: suite.ca_file,
      FULFILMENT_URL: suite.base_url,
      FULFILMENT_CLONE: root,
      FULFILMENT_CONFIG_DIR: configDir,
      HOOK_SECRET: secret,
    },
  });
  const streams = { output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (streams.output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (streams.errors += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    output: () => streams.output,
    errors: () => streams.errors,
    /** Resolves with the exit status. */
    ended,
    /** Resolves with the groups of the pattern when the standard error output matches it. */
    untilErrorsMatch: (pattern: RegExp): Promise<RegExpExecArray> =>
      eventually(() => pattern.exec(streams.errors) ?? undefined, {
        describe: () => streams.errors,
      }),
    press: (key: string) => void child.stdin.write(key),
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}
