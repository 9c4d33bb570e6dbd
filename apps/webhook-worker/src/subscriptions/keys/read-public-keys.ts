import { parsePublicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import { ResponseWithHeaders } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { publicKeyOf } from './key-pairs.js';
import type { PublicKey } from '../subscription.shapes.js';
import { SigningKeys } from './signing-keys.js';

/** Time for which receivers may cache the keys: shorter than the overlap of two keys. */
const maxAgeSeconds = 300;

const findKeys = statement(
  'subscriptions.signing-keys',
  `SELECT signing_key, CASE WHEN previous_signing_key_until > now() THEN previous_signing_key END AS previous_signing_key
   FROM webhook_subscriptions WHERE id = $1 AND deleted_at IS NULL`,
);

interface KeysRow {
  readonly signing_key: Buffer | null;
  readonly previous_signing_key: Buffer | null;
}

/** Reads the public keys of a subscription, for its receiver: anyone may read them. */
@Injectable()
export class ReadPublicKeys {
  constructor(
    private readonly database: Database,
    private readonly keys: SigningKeys,
  ) {}

  /** Returns the newest key first. @throws NotFound */
  async run(webhookId: string): Promise<ResponseWithHeaders<{ keys: PublicKey[] }>> {
    const id = parsePublicId('whk', webhookId) ?? throwNotFound('webhook subscription');
    const row = (await this.database.row<KeysRow>(findKeys, [id])) ?? throwNotFound('webhook subscription');
    const sealedKeys = [row.signing_key, row.previous_signing_key].filter((sealed) => sealed !== null);
    return new ResponseWithHeaders(
      { keys: sealedKeys.map((sealed) => publicKeyOf(this.keys.getPrivateKey(sealed, id))) },
      { 'Cache-Control': `public, max-age=${maxAgeSeconds}` },
    );
  }
}
