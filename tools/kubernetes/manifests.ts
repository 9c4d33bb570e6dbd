import { join } from 'node:path';
import { root } from '../dev/settings.ts';
import { type Manifest, renderKustomization } from './kustomize.ts';

const folder = join(root, 'deploy', 'kubernetes');
export const overlays = ['small', 'ha'] as const;
/** Components that no overlay uses, added to the overlay `small` here. */
export const options = ['ingress', 'keda', 'private-ca'] as const;

export function overlayFolder(name: string): string {
  return join(folder, 'overlays', name);
}

/** Every manifest set that deploy/kubernetes can build: the overlays, and `small` with each option. */
export function manifestSets(): ReadonlyMap<string, readonly Manifest[]> {
  return new Map([
    ...overlays.map((name) => [name, renderKustomization(overlayFolder(name))] as const),
    ...options.map(
      (name) =>
        [name, renderKustomization(overlayFolder('small'), [join(folder, 'components', name)])] as const,
    ),
  ]);
}
