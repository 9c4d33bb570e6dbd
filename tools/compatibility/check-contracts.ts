import { Failure, runMain } from '../dev/failure.ts';
import { contractFindings, currentContracts, releasedContracts } from './documents.ts';

/** Fails if the current OpenAPI or AsyncAPI documents break users of the last release. */
function checkContracts(): void {
  const findings = contractFindings(releasedContracts(), currentContracts());
  // A difference is a finding for each service of the document, so it is printed once.
  const lines = new Set(findings.map(({ column, text }) => `${column}: ${text}`));
  if (lines.size > 0) throw new Failure(`Breaks the last release:\n${[...lines].join('\n')}`);
}

runMain(() => Promise.resolve().then(checkContracts));
