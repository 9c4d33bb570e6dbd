import { ValidationFailed } from '@fulfilment/error-envelope';
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * What a cursor contains. For a list: the time of the page's last row, in microseconds since 1970, and the
 * row's id. For a feed: a position, and the id of the feed.
 */
export interface CursorKey {
  readonly micros: number;
  readonly id: string;
}

export const minCursorSecretLength = 32;
const signatureBytes = 16;
/** A canonical signature: the unused bits of its last character are zero (RFC 4648 §3.5). */
const signedCursor = /^([\w-]{1,100})\.([\w-]{21}[AQgw])$/;

/** Opaque, signed cursors. Each is accepted only for the list, creator and filters that it was sealed for. */
export class SignedCursors {
  /** The first one signs; cursors of the others are still accepted. */
  private readonly secrets: readonly string[];

  /**
   * @param setting one secret, or several of at least 32 characters, separated by commas. If a part is
   *   shorter, the whole setting is one secret that contains commas.
   */
  constructor(setting: string) {
    const parts = setting.split(',');
    this.secrets = parts.every((part) => part.length >= minCursorSecretLength) ? parts : [setting];
  }

  /**
   * Returns the cursor of a row.
   * @param boundTo list, creator and filters; not `limit`, `currency` or `format`, which may change per page
   */
  seal(boundTo: readonly (string | undefined)[], key: CursorKey): string {
    const payload = Buffer.from(`${key.micros}:${key.id}`).toString('base64url');
    return `${payload}.${sign(this.secrets[0] ?? '', boundTo, payload).toString('base64url')}`;
  }

  /**
   * Returns a page of the rows, with the cursor of the next page.
   * @param rows one more than `limit` if there is a next page
   */
  page<Row>(
    rows: readonly Row[],
    limit: number,
    boundTo: readonly (string | undefined)[],
    keyOf: (row: Row) => CursorKey,
  ) {
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const next = hasMore ? this.seal(boundTo, keyOf(last)) : null;
    return { page, pagination: { next_cursor: next, has_more: hasMore } };
  }

  /** Returns the key in a cursor. @throws ValidationFailed on the parameter that has the cursor */
  open(
    boundTo: readonly (string | undefined)[],
    cursor: string,
    parameter: 'cursor' | 'after' = 'cursor',
  ): CursorKey {
    const reject = (): never => {
      const list = parameter === 'after' ? 'position of this feed' : 'cursor of this list';
      throw new ValidationFailed([{ field: parameter, reason: `is not a ${list}` }]);
    };
    const [, payload, encodedSignature] = signedCursor.exec(cursor) ?? [];
    if (payload === undefined || encodedSignature === undefined) return reject();
    const received = Buffer.from(encodedSignature, 'base64url');
    const isSigned = this.secrets.some((secret) => timingSafeEqual(received, sign(secret, boundTo, payload)));
    if (!isSigned) return reject();
    const [micros, id] = Buffer.from(payload, 'base64url').toString().split(':');
    if (micros === undefined || id === undefined) return reject();
    return { micros: Number(micros), id };
  }
}

function sign(secret: string, boundTo: readonly (string | undefined)[], payload: string): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify(boundTo.map((part) => part ?? null)))
    .update('\n')
    .update(payload)
    .digest()
    .subarray(0, signatureBytes);
}
