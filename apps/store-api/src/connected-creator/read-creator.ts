import { publicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ConnectedCreatorView } from './creator.shapes.js';

interface CreatorRow {
  id: string;
  name: string | null;
  payment_method: string | null;
  tax_interview_completed: boolean;
  payment_terms_accepted: boolean;
  test: boolean;
}

const readCreator = statement(
  'creator.read',
  'SELECT id, name, payment_method, tax_interview_completed, payment_terms_accepted, test FROM creators WHERE id = $1',
);

/** Reads the connected creator: the one that the access token is authorised for. */
@Injectable()
export class ReadCreator {
  constructor(private readonly database: Database) {}

  async run(caller: Caller): Promise<ConnectedCreatorView> {
    const row = await this.database.row<CreatorRow>(readCreator, [caller.creatorId]);
    if (row === undefined) return throwNotFound('connected creator');
    return {
      id: publicId('crt', row.id),
      name: row.name,
      billing_status: {
        payment_method_added: row.payment_method !== null,
        tax_interview_completed: row.tax_interview_completed,
        payment_terms_accepted: row.payment_terms_accepted,
      },
      ...(row.test && { livemode: false }),
    };
  }
}
