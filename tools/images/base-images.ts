import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../dev/failure.ts';
import { root } from '../dev/settings.ts';

export const baseNames = ['node', 'nginx', 'postgres', 'redis', 'rabbitmq'] as const;
export type BaseName = (typeof baseNames)[number];

/** The file of the repository that names each image. */
const filesOfImages: Record<BaseName, string> = {
  node: 'deploy/docker/Dockerfile',
  nginx: 'deploy/gateway/Dockerfile',
  postgres: 'deploy/compose.yaml',
  redis: 'deploy/compose.yaml',
  rabbitmq: 'deploy/compose.yaml',
};

/** Reads the name of a third-party image that the suite builds on or runs, such as `postgres:17.6`. */
export function baseImage(name: BaseName): string {
  const text = readFileSync(join(root, filesOfImages[name]), 'utf8');
  const image = new RegExp(`^(?:ARG [A-Z]+_IMAGE=| +image: )(${name}:\\S+)$`, 'm').exec(text)?.[1];
  if (image === undefined) throw new Failure(`${filesOfImages[name]} names no image of ${name}.`);
  return image;
}
