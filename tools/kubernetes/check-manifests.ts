import { Failure, runMain } from '../dev/failure.ts';
import { manifestSets } from './manifests.ts';
import { validateManifests } from './validate.ts';

/**
 * Validates the manifests of each overlay, and of `small` with each optional component. Needs no cluster and
 * no network.
 */
async function main(): Promise<void> {
  const all = [...manifestSets().values()].flat();
  const distinct = new Map(all.map((manifest) => [JSON.stringify(manifest), manifest]));
  const problems = await validateManifests([...distinct.values()]);
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}

runMain(main);
