import { messages, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { notFound, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import type { CreateReleaseDto } from './create-release.dto.js';
import type { ReleaseView } from './release.shapes.js';

const creatorIsVisible = statement('releases.creator', 'SELECT 1 FROM creators WHERE id = $1');
const insert = statement(
  'releases.insert',
  `INSERT INTO editions (id, creator_id, title, release_type_id, ean, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** Creates a release. The Store learns of it by `edition.created` and shows it as pending until it is approved. */
@Injectable()
export class CreateRelease {
  constructor(
    private readonly visibility: Visibility,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed when nobody says whose it is; NotFound when the caller sees no such creator */
  async run(who: Caller, { title, release_type_id, ean, creator }: CreateReleaseDto): Promise<ReleaseView> {
    const creatorId = creator ?? who.creatorId;
    if (creatorId === undefined) {
      throw new ValidationFailed([
        { field: 'creator', reason: 'must be given: the access token is not connected to a creator' },
      ]);
    }
    const createdAt = this.clock();
    const release = {
      id: uuidv7(createdAt),
      title,
      release_type_id,
      ean: ean ?? null,
      created_at: createdAt.toISOString(),
    };
    await this.visibility.as(who, async (tx) => {
      if ((await tx.row(creatorIsVisible, [creatorId])) === undefined) notFound('creator');
      await tx.run(insert, [release.id, creatorId, title, release_type_id, release.ean, createdAt]);
      const edition = { ...release, creator_id: creatorId };
      await this.outbox.add(tx, messages.editionCreated.make({ edition }, { occurredAt: createdAt }));
    });
    return release;
  }
}
