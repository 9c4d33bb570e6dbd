import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import sections from './sections.json' with { type: 'json' };

/** tools/site/build-site.ts runs this build, and then moves inline scripts and styles into files. */
export default defineConfig({
  base: '/docs',
  outDir: './dist/docs',
  trailingSlash: 'always',
  cacheDir: './.astro/cache',
  image: { service: { entrypoint: 'astro/assets/services/noop' } },
  // Otherwise the build loads the older version that Express needs.
  vite: { environments: { prerender: { resolve: { noExternal: ['cookie'] } } } },
  integrations: [
    starlight({
      title: 'Fulfilment suite',
      customCss: ['./src/site.css'],
      expressiveCode: { defaultProps: { overridesByLang: { sh: { frame: 'none' } } } },
      sidebar: sections.map(({ label, pages }) => ({
        label,
        items: pages.map(({ slug }) => (slug === 'index' ? { label: 'Overview', slug } : slug)),
      })),
    }),
  ],
});
