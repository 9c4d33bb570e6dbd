import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';

/** tools/site/build-site.ts writes the pages into `.pages`. */
export const collections = {
  docs: defineCollection({ loader: glob({ base: '.pages', pattern: '**/*.md' }), schema: docsSchema() }),
};
