import { messages, uuidv7 } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { ValidationFailed } from '@fulfilment/error-envelope';
import {
  ResponseWithHeaders,
  type Caller,
  createOnce,
  fingerprint,
  type KeyedRequest,
} from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import type { CreateReleaseDto } from './create-release.dto.js';
import type { ReleaseView } from './release.shapes.js';

const insert = statement(
  'releases.insert',
  `INSERT INTO editions (id, creator_id, title, release_type_id, ean, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** Creates a release. `edition.created` adds it to store-api's catalogue, as pending until it is approved. */
@Injectable()
export class CreateRelease {
  constructor(
    private readonly visibility: Visibility,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param key makes a repeated request return the first response
   * @throws ValidationFailed when neither the body nor the token names a creator
   * @throws NotFound when the creator is not visible to the caller
   * @throws Conflict when the key was used with another body
   */
  async run(caller: Caller, body: CreateReleaseDto, key?: string): Promise<ResponseWithHeaders<ReleaseView>> {
    const creatorId = body.creator ?? caller.creatorId;
    if (creatorId === undefined) {
      throw new ValidationFailed([
        { field: 'creator', reason: 'is required because the access token is not connected to a creator' },
      ]);
    }
    const receivedAt = this.clock();
    const scope = key === undefined ? undefined : { creatorId, clientId: caller.clientId, key };
    const request: KeyedRequest | undefined = scope && {
      scope,
      fingerprints: [fingerprint(body)],
      receivedAt,
    };
    const { response, headers } = await this.visibility.transaction(caller, async (tx) => {
      await selectCreator(tx, creatorId);
      return createOnce(tx, request, () => this.create(tx, creatorId, body, receivedAt));
    });
    return new ResponseWithHeaders(response, headers);
  }

  private async create(
    tx: Transaction,
    creatorId: string,
    { title, release_type_id, ean }: CreateReleaseDto,
    createdAt: Date,
  ): Promise<ReleaseView> {
    const release = {
      id: uuidv7(createdAt),
      title,
      release_type_id,
      ean: ean ?? null,
      created_at: createdAt.toISOString(),
    };
    await tx.run(insert, [release.id, creatorId, title, release_type_id, release.ean, createdAt]);
    const edition = { ...release, creator_id: creatorId };
    await this.outbox.add(tx, messages.editionCreated.make({ edition }, { occurredAt: createdAt }));
    return release;
  }
}
