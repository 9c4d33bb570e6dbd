import { join } from 'node:path';
import { root } from '../dev/settings.ts';
import { type Manifest, renderKustomization } from './kustomize.ts';

const folder = join(root, 'deploy', 'kubernetes');
export const overlays = ['small', 'ha'] as const;
/** Components that no overlay uses. The tests and checks add each to the overlay `small`. */
const optionalComponents = ['ingress', 'keda', 'private-ca'] as const;

export function overlayFolder(name: string): string {
  return join(folder, 'overlays', name);
}

/** The manifest sets that are checked: the overlays, and `small` with each optional component. */
export function manifestSets(): ReadonlyMap<string, readonly Manifest[]> {
  return new Map([
    ...overlays.map((name) => [name, renderKustomization(overlayFolder(name))] as const),
    ...optionalComponents.map(
      (name) =>
        [name, renderKustomization(overlayFolder('small'), [join(folder, 'components', name)])] as const,
    ),
  ]);
}
