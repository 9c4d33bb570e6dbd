import { type OperationDoc, textBody } from '@fulfilment/api-reference';
import { NotFound, RateLimited } from '@fulfilment/error-envelope';
import { statementShape, statementsShape } from './statements.shapes.js';
import { notVisible } from '../visibility/not-visible.js';

const tag = 'Statements';
const noStatement = {
  when: 'The creator has no statement with this number, or is not visible to you.',
  example: new NotFound('statement'),
};

export const listStatements = {
  id: 'listStatements',
  tag,
  summary: 'List the statements of a creator',
  description: [
    'Returns the statements, newest first. A statement is issued for each closed month in which the creator had sales or refunds, within minutes after the month has closed. Its sums are those of the',
    'royalty statistics and of the ledger lines of the month. After a change of the settlement currency, statistics and ledger lines show only what was posted in the new currency. A refund that becomes known later is in the statement of a later month.',
  ].join(' '),
  response: { description: 'A page of statements.', shape: statementsShape },
  errors: [notVisible('creator')],
} as const satisfies OperationDoc<typeof statementsShape>;

export const readStatement = {
  id: 'readStatement',
  tag,
  summary: 'Read a statement',
  description: 'Returns a statement with the SHA-256 of its CSV file. It never changes.',
  response: { description: 'The statement.', shape: statementShape },
  errors: [noStatement],
} as const satisfies OperationDoc<typeof statementShape>;

export const downloadStatement = {
  id: 'downloadStatement',
  tag,
  summary: 'Download a statement as CSV',
  description: [
    'Returns the ledger lines of the statement, the oldest first; the same bytes each time. `Repr-Digest` (RFC 9530) is their SHA-256. The first line names the columns; amounts are in minor units of',
    '`currency` and `settlement_currency`. A response that breaks off is incomplete: send the request again.',
  ].join(' '),
  response: {
    description: 'The ledger lines.',
    shape: textBody,
    contentType: 'text/csv',
    headers: ['Repr-Digest'],
  },
  errors: [
    noStatement,
    { when: 'Another download of your organisation is running.', example: new RateLimited(1) },
  ],
} as const satisfies OperationDoc;
