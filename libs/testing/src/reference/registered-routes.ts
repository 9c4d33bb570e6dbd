import { z } from 'zod';

const layer = z.object({
  route: z.object({ path: z.string(), methods: z.record(z.string(), z.boolean()) }).optional(),
});

/** Returns the routes that Nest registered with Express, such as `get /v1/orders/{id}`, without prefix. */
export function registeredRoutes(express: unknown, prefix: string): string[] {
  const router: unknown = Reflect.get(Object(express), 'router');
  const stack = z.array(layer).parse(Reflect.get(Object(router), 'stack'));
  return stack.flatMap(({ route }) =>
    route?.path.startsWith(`${prefix}/`) === true
      ? Object.keys(route.methods).map(
          (method) => `${method} ${route.path.slice(prefix.length).replace(/:(\w+)/g, '{$1}')}`,
        )
      : [],
  );
}
