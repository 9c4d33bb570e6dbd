import { contractFilesOf, contractFindings, currentContracts } from './documents.ts';

describe('the contracts of a release', () => {
  it('are selected by the services that fulfil them', () => {
    expect(contractFilesOf(['webhook-worker'])).toEqual(['store.openapi.json', 'asyncapi.json']);
    expect(contractFilesOf(['creator-api'])).toEqual(['creator.openapi.json', 'asyncapi.json']);
    expect(contractFilesOf([])).toEqual([]);
  });

  it('have no findings against themselves, and otherwise findings for each service that fulfils them', () => {
    const current = currentContracts();
    expect(contractFindings(current, current)).toEqual([]);
    const withoutPaths = { ...current, 'store.openapi.json': { paths: {} } };
    const findings = contractFindings(current, withoutPaths);
    expect(new Set(findings.map(({ service }) => service))).toEqual(new Set(['store-api', 'webhook-worker']));
    expect(findings.map(({ text }) => text)).toContain('POST /v1/orders was removed');
  });
});
