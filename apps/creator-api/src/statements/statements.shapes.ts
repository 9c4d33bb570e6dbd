import { currencies, numberedPageShape } from '@fulfilment/contracts';
import { z } from 'zod';
import { monthPattern, sums } from '../statistics/statistics.shapes.js';

const statementExample = {
  number: 7,
  period: '2026-10',
  currency: 'GBP' as const,
  issued_at: '2026-11-05T00:00:12.345Z',
  totals: { units: 6, revenue: 17994, royalties: 2250 },
  lines: 4,
  csv: {
    bytes: 1284,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
};

export const statementShape = z
  .object({
    number: z.int().min(1).describe('Number of the statement, from 1 for each creator, without gaps'),
    period: z.string().regex(monthPattern).describe('The month, which is closed, in UTC'),
    currency: z.enum(currencies).describe('The settlement currency of its ledger lines'),
    issued_at: z.iso.datetime().describe('When the statement was issued'),
    totals: z.object(sums).describe('The sums of its ledger lines'),
    lines: z.int().min(1).describe('Number of its ledger lines'),
    csv: z
      .object({
        bytes: z.int().describe('Size of the file'),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('SHA-256 of the file, hexadecimal'),
      })
      .describe('The CSV file with its ledger lines'),
  })
  .meta({
    id: 'Statement',
    description: 'What a creator earned in a closed month. It never changes.',
    examples: [statementExample],
  });
export type StatementView = z.infer<typeof statementShape>;

export const statementsShape = numberedPageShape(statementShape, statementExample);
