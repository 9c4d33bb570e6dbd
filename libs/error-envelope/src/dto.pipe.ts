import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { LRUCache } from 'lru-cache';
import { boundedCopy } from './bounded-copy.js';
import type { ErrorDetail } from './envelope.js';
import { ValidationFailed } from './problems.js';

const rememberedQueries = 500;
const plainTypes = new Set<unknown>([String, Number, Boolean, Array, Object]);

/**
 * Turns a body or a query into its DTO and checks it with class-validator.
 * Unknown members are dropped, never stored or echoed; `null` for an optional member is the same as leaving it out.
 * @throws ValidationFailed with one detail per wrong member
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  private readonly queries = new Map<ClassConstructor<object>, LRUCache<string, object>>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!isDto(metatype) || type === 'custom') return value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ValidationFailed([
        { field: type === 'query' ? 'query' : 'body', reason: 'must be an object' },
      ]);
    }
    if (type !== 'query') return checked(metatype, value);
    return this.checkedQuery(metatype, knownParameters(metatype, value));
  }

  /** Callers ask with the same few queries again and again; to check one costs as much as to read an order. */
  private checkedQuery(metatype: ClassConstructor<object>, query: object): object {
    let known = this.queries.get(metatype);
    if (known === undefined) this.queries.set(metatype, (known = new LRUCache({ max: rememberedQueries })));
    const text = JSON.stringify(query);
    const before = known.get(text);
    if (before !== undefined) return before;
    const dto = Object.freeze(checked(metatype, query));
    known.set(text, dto);
    return dto;
  }
}

function checked(metatype: ClassConstructor<object>, value: object): object {
  const dto = plainToInstance(metatype, boundedCopy(value), { exposeDefaultValues: true });
  const errors = validateSync(dto, { whitelist: true, forbidUnknownValues: true, stopAtFirstError: true });
  if (errors.length > 0) throw new ValidationFailed(details(errors));
  return dto;
}

function isDto(metatype: unknown): metatype is ClassConstructor<object> {
  return typeof metatype === 'function' && !plainTypes.has(metatype);
}

/**
 * The parameters that the DTO has; others are ignored, however often they are given.
 * @throws ValidationFailed on a parameter that stands twice: it could mean either value
 */
function knownParameters(metatype: ClassConstructor<object>, query: object): object {
  const validations = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  const names = new Set(validations.map(({ propertyName }) => propertyName));
  const known = Object.entries(query).filter(([name]) => names.has(name));
  const repeated = known.filter(([, value]) => typeof value !== 'string');
  if (repeated.length > 0) {
    throw new ValidationFailed(repeated.map(([field]) => ({ field, reason: 'must be given once' })));
  }
  return Object.fromEntries(known);
}

function details(errors: readonly ValidationError[], path = ''): ErrorDetail[] {
  return errors.flatMap((error) => {
    const field = `${path}${error.property}`;
    const own = Object.values(error.constraints ?? {}).map((reason) => ({
      field,
      reason: withoutName(reason, error.property),
    }));
    return [...own, ...details(error.children ?? [], `${field}.`)];
  });
}

/** class-validator writes the member's name before the reason; the detail has it in `field`. */
function withoutName(reason: string, name: string): string {
  return reason.startsWith(`${name} `) ? reason.slice(name.length + 1) : reason;
}
