import type { OpenApiDocument } from '@fulfilment/api-reference';
import { z } from 'zod';
import { boundProbes } from './bound-probes.js';
import { isAbout } from './is-about.js';

const asObject = z.record(z.string(), z.unknown());

/** Sends a body and answers what came back. */
export type Ask = (body: object) => PromiseLike<{ readonly status: number; readonly body: unknown }>;

/**
 * What the document says of a body's bounds and the service does not do, or the other way round: every bound is met exactly and missed by one.
 * @param shape the component of the body
 * @param good a body with every member, none of which is found fault with
 */
export async function boundDisagreements(
  document: OpenApiDocument,
  shape: string,
  good: object,
  ask: Ask,
): Promise<string[]> {
  const { schemas } = document.components;
  const probes = boundProbes(schemas[shape] ?? {}, schemas, good);
  if (probes.length === 0) throw new Error(`${shape} has no bounds.`);
  const disagreements: string[] = [];
  for (const { field, what, allowed, body } of probes) {
    const refused = isAbout(field, await ask(asObject.parse(body)));
    if (refused === allowed) disagreements.push(`${field}: ${what} is ${refused ? 'refused' : 'taken'}`);
  }
  return disagreements;
}
