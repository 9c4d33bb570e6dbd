import { operationsOf } from '@fulfilment/api-reference';
import { exampleFaults, formatFaults, readDocument, undescribedMembers } from '@fulfilment/testing/reference';

describe.each(['store', 'creator'] as const)('the OpenAPI document of the %s API', (api) => {
  const document = readDocument(api);

  it('is OpenAPI 3.1', async () => {
    expect(await formatFaults(document)).toEqual([]);
  });

  it('has only examples that match their schemas', () => {
    expect(exampleFaults(document)).toEqual([]);
  });

  it('has a description of every member', () => {
    expect(undescribedMembers(document)).toEqual([]);
  });

  it('has a unique name for every operation', () => {
    const names = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });
});
