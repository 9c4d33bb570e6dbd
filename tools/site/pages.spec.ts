import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../dev/settings.ts';
import { readPages } from './pages.ts';

describe('the page of webhook-verifier', () => {
  const page = readPages().find(({ slug }) => slug === 'guides/webhook-verifier');

  it.each(
    globSync('libs/webhook-verifier/examples/*.{ts,py,php}', { cwd: root }).map((file) => [
      basename(file),
      file,
    ]),
  )('contains the code of %s', (_name, file) => {
    expect(page?.text).toContain(`\n${readFileSync(join(root, file), 'utf8').trim()}\n\`\`\`\n`);
  });
});
