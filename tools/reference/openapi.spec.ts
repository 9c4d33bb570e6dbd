import { operationsOf } from '@fulfilment/api-reference';
import {
  exampleViolations,
  formatViolations,
  readDocument,
  undescribedMembers,
} from '@fulfilment/testing/reference';

describe.each(['store', 'creator'] as const)('the OpenAPI document of the %s API', (api) => {
  const document = readDocument(api);

  it('is OpenAPI 3.1', async () => {
    expect(await formatViolations(document)).toEqual([]);
  });

  it('has only examples that match their schemas', () => {
    expect(exampleViolations(document)).toEqual([]);
  });

  it('has a description of every member', () => {
    expect(undescribedMembers(document)).toEqual([]);
  });

  it('has a unique name for every operation', () => {
    const names = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });
});
