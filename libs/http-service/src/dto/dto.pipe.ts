import { type ErrorDetail, ValidationFailed } from '@fulfilment/error-envelope';
import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { LRUCache } from 'lru-cache';
import { sanitizedCopy } from './sanitized-copy.js';

const maxCachedQueries = 500;
/** Types that Nest reports for a parameter that has no DTO. */
const plainTypes = new Set<unknown>([String, Number, Boolean, Array, Object]);

/**
 * Converts a body, query or path parameters to a DTO and validates it. Unknown members are removed, as are
 * members that are null.
 * @throws ValidationFailed with one detail per invalid member
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  /** Validated queries by their JSON, for each DTO. */
  private readonly queries = new Map<ClassConstructor<object>, LRUCache<string, object>>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!isDto(metatype) || type === 'custom') return value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ValidationFailed([
        { field: type === 'query' ? 'query' : 'body', reason: 'must be an object' },
      ]);
    }
    if (type !== 'query') return convertAndValidate(metatype, value);
    return this.validateQuery(metatype, pickKnownParameters(metatype, value));
  }

  /** Caches validated queries: clients repeat a few, and validating one costs as much as reading an order. */
  private validateQuery(metatype: ClassConstructor<object>, query: object): object {
    const cache = this.queries.get(metatype) ?? new LRUCache<string, object>({ max: maxCachedQueries });
    this.queries.set(metatype, cache);
    const text = JSON.stringify(query);
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const dto = Object.freeze(convertAndValidate(metatype, query));
    cache.set(text, dto);
    return dto;
  }
}

/** Returns the validated DTO. @throws ValidationFailed with one detail per invalid member */
export function convertAndValidate(metatype: ClassConstructor<object>, value: object): object {
  const dto = plainToInstance(metatype, sanitizedCopy(value), { exposeDefaultValues: true });
  const errors = validateSync(dto, { whitelist: true, forbidUnknownValues: true, stopAtFirstError: true });
  if (errors.length > 0) throw new ValidationFailed(detailsOf(errors));
  return dto;
}

function isDto(metatype: unknown): metatype is ClassConstructor<object> {
  return typeof metatype === 'function' && !plainTypes.has(metatype);
}

/**
 * Returns the parameters that the DTO has; others are ignored.
 * @throws ValidationFailed for a repeated parameter, which is ambiguous
 */
function pickKnownParameters(metatype: ClassConstructor<object>, query: object): object {
  const validations = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  const names = new Set(validations.map(({ propertyName }) => propertyName));
  const known = Object.entries(query).filter(([name]) => names.has(name));
  const repeated = known.filter(([, value]) => typeof value !== 'string');
  if (repeated.length > 0) {
    throw new ValidationFailed(repeated.map(([field]) => ({ field, reason: 'must occur only once' })));
  }
  return Object.fromEntries(known);
}

function detailsOf(errors: readonly ValidationError[], path = ''): ErrorDetail[] {
  return errors.flatMap((error) => {
    const field = `${path}${error.property}`;
    const ownDetails = Object.values(error.constraints ?? {}).map((reason) => ({
      field,
      reason: removeName(reason, error.property),
    }));
    return [...ownDetails, ...detailsOf(error.children ?? [], `${field}.`)];
  });
}

/** class-validator puts the member's name before the reason; the detail has it in `field`. */
function removeName(reason: string, name: string): string {
  return reason.startsWith(`${name} `) ? reason.slice(name.length + 1) : reason;
}
