import { describe, expect, it } from '@jest/globals';
import { withSection } from './report.ts';

describe('the table of benchmarks', () => {
  it('holds one section a bench, the newest, in the order of names', () => {
    const once = withSection(withSection('# Benchmarks\n\nHead.\n', 'store', ['old']), 'auth', ['first']);
    const updated = withSection(once, 'store', ['new']);
    expect(updated).toBe(
      '# Benchmarks\n\nHead.\n\n## auth\n\n```text\nfirst\n```\n\n## store\n\n```text\nnew\n```\n',
    );
  });
});
