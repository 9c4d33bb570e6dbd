import { type Currency, formatUuid, isCurrency } from '@fulfilment/contracts';
import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** The price of one parcel with one service, for one creator. */
export interface Quote {
  readonly serviceId: string;
  readonly countryCode: string;
  readonly currency: Currency;
  /** Amount in minor units. */
  readonly amount: number;
  /** Undefined for a quote without items. */
  readonly weightGrams: number | undefined;
  /** The sealed form has no milliseconds. */
  readonly expiresAt: Date;
}

interface Key {
  readonly id: Buffer;
  /** Created once: creating it from bytes costs more than using it. */
  readonly key: KeyObject;
}

// Sealed form: key id (4 bytes of the key's SHA-256), service (16), country (2), currency (3), amount (8),
// weight in grams or -1 (4), expiry in seconds since 1970 (4), MAC (16).
const keyIdEnd = 4;
const countryStart = 20;
const currencyStart = 22;
const amountStart = 25;
const weightStart = 33;
const expiryStart = 37;
const contentEnd = 41;
const macBytes = 16;
const noWeight = -1;
/** 57 bytes are exactly 76 characters of base64url, so no other text has the same bytes. */
const rateIdForm = /^rate_([\w-]{76})$/;

/**
 * Quotes that are stored nowhere: the id of a shipping rate contains its quote, with a MAC (HMAC-SHA-256)
 * that binds it to the creator. The newest key seals, and each key opens what it sealed (ADR 47).
 */
export class SealedQuotes {
  private readonly keyring: readonly Key[];
  private readonly newest: Key;

  /** @param keys 32 bytes each, newest first */
  constructor(keys: readonly Buffer[]) {
    this.keyring = keys.map((bytes) => ({
      id: createHash('sha256').update(bytes).digest().subarray(0, keyIdEnd),
      key: createSecretKey(bytes),
    }));
    const [newest] = this.keyring;
    if (newest === undefined) throw new Error('No key for shipping quotes was given.');
    this.newest = newest;
  }

  /** Returns the id of the shipping rate. */
  seal(creatorId: string, quote: Quote): string {
    const content = Buffer.alloc(contentEnd);
    this.newest.id.copy(content);
    content.write(quote.serviceId.replaceAll('-', ''), keyIdEnd, 'hex');
    content.write(quote.countryCode + quote.currency, countryStart, 'latin1');
    content.writeBigUInt64BE(BigInt(quote.amount), amountStart);
    content.writeInt32BE(quote.weightGrams ?? noWeight, weightStart);
    content.writeUInt32BE(Math.floor(quote.expiresAt.getTime() / 1000), expiryStart);
    const mac = macOf(this.newest, creatorId, content);
    return `rate_${Buffer.concat([content, mac]).toString('base64url')}`;
  }

  /** Returns undefined for an id that was not sealed here, or for another creator. */
  open(creatorId: string, rateId: string): Quote | undefined {
    const [, encoded] = rateIdForm.exec(rateId) ?? [];
    if (encoded === undefined) return undefined;
    const sealed = Buffer.from(encoded, 'base64url');
    const content = sealed.subarray(0, contentEnd);
    const key = this.keyring.find(({ id }) => id.equals(content.subarray(0, keyIdEnd)));
    if (key === undefined || !timingSafeEqual(sealed.subarray(contentEnd), macOf(key, creatorId, content)))
      return undefined;
    const currency = content.toString('latin1', currencyStart, amountStart);
    if (!isCurrency(currency)) return undefined;
    const weightGrams = content.readInt32BE(weightStart);
    return {
      serviceId: formatUuid(content.toString('hex', keyIdEnd, countryStart)),
      countryCode: content.toString('latin1', countryStart, currencyStart),
      currency,
      amount: Number(content.readBigUInt64BE(amountStart)),
      weightGrams: weightGrams === noWeight ? undefined : weightGrams,
      expiresAt: new Date(content.readUInt32BE(expiryStart) * 1000),
    };
  }
}

/** The MAC of a creator's quote, truncated as RFC 2104 §5 permits. */
function macOf({ key }: Key, creatorId: string, content: Buffer): Buffer {
  return createHmac('sha256', key).update(creatorId).update(content).digest().subarray(0, macBytes);
}
