import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.resolve('jest'))('@jest/test-sequencer');

/**
 * Runs faults.spec.ts last. Its time limits need a machine without other load. The short form of chaos, which
 * starts together with the end-to-end tests, has ended by then (tools/dev/test-run/short-chaos.ts).
 */
export default class FaultsLast extends Sequencer {
  sort(tests) {
    const isFaultsSpec = ({ path }) => path.endsWith('/faults.spec.ts');
    const sorted = super.sort(tests);
    return [...sorted.filter((test) => !isFaultsSpec(test)), ...sorted.filter(isFaultsSpec)];
  }
}
