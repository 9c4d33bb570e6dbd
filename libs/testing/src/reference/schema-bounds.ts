import type { OpenApiDocument } from '@fulfilment/api-reference';
import { z } from 'zod';
import { boundProbes } from './bound-probes.js';
import { mentionsField } from './mentions-field.js';

const asObject = z.record(z.string(), z.unknown());

/** Sends a body and returns the response. */
export type SendBody = (body: object) => PromiseLike<{ readonly status: number; readonly body: unknown }>;

/**
 * Returns the differences between the documented bounds of a body and the service's validation. Sends values
 * at every bound and just beyond it.
 * @param shape the component of the body
 * @param good a valid body with every member
 */
export async function boundMismatches(
  document: OpenApiDocument,
  shape: string,
  good: object,
  send: SendBody,
): Promise<string[]> {
  const { schemas } = document.components;
  const probes = boundProbes(schemas[shape] ?? {}, schemas, good);
  if (probes.length === 0) throw new Error(`${shape} has no bounds.`);
  const mismatches: string[] = [];
  for (const { field, what, allowed, body } of probes) {
    const rejected = mentionsField(field, await send(asObject.parse(body)));
    if (rejected === allowed) mismatches.push(`${field}: ${what} is ${rejected ? 'rejected' : 'accepted'}`);
  }
  return mismatches;
}
