import { operationsOf } from '@fulfilment/api-reference';
import { exampleFaults, formatFaults, readDocument, undescribed } from '@fulfilment/testing/reference';

describe.each(['store', 'creator'] as const)('the OpenAPI document of the API %s', (api) => {
  const document = readDocument(api);

  it('is OpenAPI 3.1', async () => {
    expect(await formatFaults(document)).toEqual([]);
  });

  it('has examples that are what they are examples of', () => {
    expect(exampleFaults(document)).toEqual([]);
  });

  it('says what every member means', () => {
    expect(undescribed(document)).toEqual([]);
  });

  it('names every operation once', () => {
    const names = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });
});
