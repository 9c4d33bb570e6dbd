import type { Statement } from '@fulfilment/database';

/** An SQL statement of a test. It has no name, so PostgreSQL does not keep it. */
export function testStatement(text: string): Statement {
  return { name: '', text };
}
