import { documentShape } from '@fulfilment/api-reference';
import { readFileSync } from 'node:fs';
import { referencePage } from './reference-page.js';

const document = documentShape.parse(
  JSON.parse(
    readFileSync(new URL('../../../../../docs/reference/store.openapi.json', import.meta.url), 'utf8'),
  ),
);

describe('the reference page', () => {
  const page = referencePage(document);
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);

  it('has a target for each of its links', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('shows every operation, event, shape, scope and bound', () => {
    const operations = [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})];
    const names = operations.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    const shapes = Object.keys(document.components.schemas).map((name) => `schema-${name}`);
    expect(ids).toEqual(expect.arrayContaining([...names, ...shapes]));
    for (const text of [
      'orders:create',
      '0 to 9007199254740991',
      'insufficient_stock',
      'X-Service-Signature',
    ]) {
      expect(page).toContain(text);
    }
  });

  it('shows a curl command for an operation', () => {
    expect(page).toContain('curl -X POST &#39;https://localhost:8443/store/v1/orders&#39;');
    expect(page).toContain('-H &quot;Authorization: Bearer $TOKEN&quot;');
  });

  it('escapes all text of the document', () => {
    const bad = '<script>alert(1)</script>';
    const escaped = referencePage({
      ...document,
      info: { ...document.info, title: bad, description: `### ${bad}\n\n- ${bad}` },
    });
    expect(escaped).not.toContain('<script');
  });
});
