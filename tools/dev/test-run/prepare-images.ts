import { secondsSince } from '../output/progress.ts';
import { runProgram } from '../run-program.ts';
import { root, toolArguments } from '../settings.ts';
import { type CommandResults, noResults } from './test-results.ts';

/**
 * Time since the start of `npm test` after which images are not verified. CI must end within 20 minutes, and
 * on a machine that is so slow, the end-to-end tests and the images need the rest.
 */
const latestStartMs = 11 * 60_000;

/**
 * Starts `npm run images -- --verify` with the deployable folders that the tests have built. It builds the
 * images during other tests, and starts the suite when `verify` is called: tests and suite would slow each
 * other down. The last line of the output is `Container images: VERIFIED …` or `NOT VERIFIED …`.
 */
export function prepareImages(): { readonly verify: () => Promise<CommandResults> } {
  if (performance.now() > latestStartMs) {
    const line = `\nContainer images: NOT VERIFIED, because the tests before took more than ${latestStartMs / 60_000} minutes.`;
    return { verify: () => Promise.resolve({ results: noResults, lines: [line] }) };
  }
  const { promise: inputEnds, resolve: endInput } = Promise.withResolvers<void>();
  const options = ['--verify', '--built', '--if-possible', '--after-input'];
  const running = runProgram(process.execPath, toolArguments('images/images.ts', ...options), {
    cwd: root,
    cleansUp: true,
    inputEnds,
  });
  return {
    verify: async () => {
      const startedAtMs = performance.now();
      endInput();
      const { code, output } = await running;
      const duration = secondsSince(startedAtMs);
      const title = `\nContainer images (npm run images -- --verify): ${duration} after the other tests`;
      const lines = [title, ...output.trimEnd().split('\n')];
      if (code === 0) return { results: noResults, lines };
      const failure = 'Container images: NOT VERIFIED, because the verification failed.';
      return { results: { passed: 0, failures: [failure] }, lines: [...lines, failure] };
    },
  };
}
