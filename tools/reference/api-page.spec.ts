import { readDocument } from '@fulfilment/testing/reference';
import { apiPage } from './api-page.ts';

const document = readDocument('store');

describe('the reference page of the Store API', () => {
  const page = apiPage(document);
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);

  it('has one target for each of its links', () => {
    // The page is Markdown with some HTML: links are `href="#id"` or `](#id)`.
    const targets = [...page.matchAll(/(?:href="|\]\()#([^")]+)/g)].map(([, id = '']) => id);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a section for every operation, event and schema', () => {
    const operations = [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})];
    const names = operations.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    const schemas = Object.keys(document.components.schemas).map((name) => `schema-${name}`);
    expect(ids).toEqual(expect.arrayContaining([...names, ...schemas]));
  });

  it('shows scopes, bounds, error codes and headers of events', () => {
    for (const text of [
      'orders:create',
      '0 to 9007199254740991',
      'insufficient_stock',
      'UNPROCESSABLE_ENTITY',
      'X-Service-Signature',
    ]) {
      expect(page).toContain(text);
    }
  });

  it('shows a curl command for an operation', () => {
    expect(page).toContain("curl -X POST 'https://localhost:8443/store/v1/orders'");
    expect(page).toContain('-H "Authorization: Bearer $TOKEN"');
  });

  it('escapes title, summary and description of the API', () => {
    const script = (text: string): string => `<script>${text}`;
    const page = apiPage({
      ...document,
      info: {
        ...document.info,
        title: script('title'),
        summary: script('summary'),
        description: `### ${script('heading')}\n\n- ${script('item')}`,
      },
    });
    expect(page).not.toContain('<script');
    for (const text of ['title', 'summary', 'heading', 'item']) expect(page).toContain(`&lt;script>${text}`);
  });
});
