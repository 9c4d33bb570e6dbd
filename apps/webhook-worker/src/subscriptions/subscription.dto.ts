import { Description, Field } from '@fulfilment/api-reference';
import { IntegerField, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import {
  maxEvents,
  maxInFlightLimit,
  maxUrlCharacters,
  subscribableNames,
  type SignatureVersion,
  signatureVersions,
  type SubscriptionStatus,
  subscriptionStatuses,
} from './subscription.rules.js';

const maxSecretCharacters = 256;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * Unicode text of 1 to 256 code points, kept byte for byte. Rejects lone surrogates, which have no UTF-8 form
 * to sign with.
 */
function SecretField(): PropertyDecorator {
  return Field({
    name: 'secretField',
    schema: { type: 'string', minLength: 1, maxLength: maxSecretCharacters },
    holds: (value) =>
      typeof value === 'string' &&
      value !== '' &&
      value.length <= 2 * maxSecretCharacters && // bounds the cost of counting
      !loneSurrogate.test(value) &&
      [...value].length <= maxSecretCharacters,
    reason: () => `must be a string of 1 to ${maxSecretCharacters} characters`,
  });
}

/** Validates the form only. The guarded client decides whether the URL is allowed. */
const UrlField = () => TextField({ max: maxUrlCharacters, format: 'uri' });

const SignatureField = () =>
  IsIn(signatureVersions, { message: `must be ${signatureVersions.join(' or ')}` });

const BooleanField = () =>
  Field({
    name: 'booleanField',
    schema: { type: 'boolean' },
    holds: (value) => typeof value === 'boolean',
    reason: () => 'must be true or false',
  });

/** Validates that it is an array. `CheckSubscription` reports unknown names, with one detail for each. */
function EventNames(): PropertyDecorator {
  return Field({
    name: 'eventNames',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: maxEvents,
      items: { type: 'string', enum: [...subscribableNames] },
    },
    holds: (value) => Array.isArray(value) && value.length >= 1 && value.length <= maxEvents,
    reason: (value) => {
      if (!Array.isArray(value)) return 'must be an array of event names';
      return value.length === 0 ? 'must name at least one event' : `must name at most ${maxEvents} events`;
    },
  });
}

export class ListSubscriptionsDto {
  @Description('Only subscriptions with this status, or `all`', 'all')
  @IsOptional()
  @IsIn([...subscriptionStatuses, 'all'], {
    message: `must be one of ${subscriptionStatuses.join(', ')}, all`,
  })
  status: SubscriptionStatus | 'all' = 'active';
}

export class CreateSubscriptionDto {
  @Description(
    'Events to receive; duplicates are ignored. `order.*` and `product.*` stand for all events of orders or products, `*` for all events, including those that are added later',
  )
  @EventNames()
  events: unknown[];

  @Description(
    'URL that receives deliveries: https, without credentials or fragment, at a public address, with port 443 or a port from 1024 that is not reserved for infrastructure',
  )
  @UrlField()
  url: string;

  @Description(
    'HMAC key of the signatures, as UTF-8; never returned by the API. Use at least 32 random characters: a shorter secret is accepted, but can be guessed from one delivery and then used to forge others',
  )
  @SecretField()
  secret: string;

  @Description(
    'Maximum number of concurrent requests of one of our processes to the receiver. Up to this number, it gets as many as it handles without slower responses or errors; 64 if it is left out',
  )
  @IsOptional()
  @IntegerField(1, maxInFlightLimit)
  max_in_flight?: number;

  @Description(
    '`v1a`: `webhook-signature` also has an Ed25519 signature, whose public key is in the JWKS of the subscription; `v1`, the default: only the HMAC',
  )
  @IsOptional()
  @SignatureField()
  signature?: SignatureVersion;
}

export class UpdateSubscriptionDto {
  @Description('Events to receive from now on') @IsOptional() @EventNames() events?: unknown[];

  @Description('URL that receives deliveries from now on, including pending ones')
  @IsOptional()
  @UrlField()
  url?: string;

  @Description(
    'A new secret; use at least 32 random characters. For 24 hours deliveries are also signed with the previous secret, in `X-Service-Signature-Previous`. Sending the current secret changes nothing',
  )
  @IsOptional()
  @SecretField()
  secret?: string;

  @Description(
    '`active` re-enables the subscription and sends held deliveries that are younger than 72 hours; `disabled` holds deliveries until they are 7 days old',
  )
  @IsOptional()
  @IsIn(subscriptionStatuses, { message: `must be ${subscriptionStatuses.join(' or ')}` })
  status?: SubscriptionStatus;

  @Description(
    'Maximum number of concurrent requests of one of our processes to the receiver. Up to this number, it gets as many as it handles without slower responses or errors',
  )
  @IsOptional()
  @IntegerField(1, maxInFlightLimit)
  max_in_flight?: number;

  @Description('`v1a` creates a key pair if there is none; `v1` deletes it')
  @IsOptional()
  @SignatureField()
  signature?: SignatureVersion;

  @Description(
    '`true` replaces the key pair of `v1a`. For 24 hours deliveries are also signed with the previous key, and further requests do not replace the key',
  )
  @IsOptional()
  @BooleanField()
  new_signing_key?: boolean;
}
