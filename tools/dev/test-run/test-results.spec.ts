import { join } from 'node:path';
import { root } from '../settings.ts';
import { addResults, resultsOf } from './test-results.ts';

const file = 'apps/store-api/src/orders/place-order.spec.ts';

/** Output of Jest for one file. */
function output(members: { tests?: object[]; status?: string; message?: string; passed?: number }): string {
  const { tests = [], status = 'passed', message = '', passed = 0 } = members;
  return JSON.stringify({
    numPassedTests: passed,
    testResults: [{ name: join(root, file), status, message, assertionResults: tests }],
  });
}

describe('the summary of Jest results', () => {
  it('names each failed test with its file and its reason, without colours', () => {
    const tests = [
      { fullName: 'orders charge once', status: 'passed', failureMessages: [] },
      {
        fullName: 'orders take stock',
        status: 'failed',
        failureMessages: ['\u001b[31mError: expected 1\u001b[39m\n    at place-order.ts:3'],
      },
      { fullName: 'orders can wait', status: 'pending', failureMessages: null },
    ];
    expect(resultsOf(output({ tests, status: 'failed', passed: 1 }))).toEqual({
      passed: 1,
      failures: [`${file}: orders take stock\n    Error: expected 1\n        at place-order.ts:3`],
    });
  });

  it('names a file that cannot be loaded', () => {
    const results = resultsOf(output({ status: 'failed', message: 'Cannot find module' }));
    expect(results).toEqual({ passed: 0, failures: [`${file}\n    Cannot find module`] });
  });

  it('shortens a long reason', () => {
    const message = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
    const [failure = ''] = resultsOf(output({ status: 'failed', message })).failures;
    expect(failure.split('\n')).toHaveLength(1 + 12); // the name of the file, and the first lines
  });

  it('adds up the results of all projects', () => {
    const all = [output({ passed: 2 }), output({ status: 'failed', message: 'x', passed: 3 })].map(resultsOf);
    expect(addResults(all)).toEqual({ passed: 5, failures: [`${file}\n    x`] });
  });
});
