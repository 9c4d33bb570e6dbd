/** Routes that people open in a browser: errors are pages there. */
const browserRoute = /^\/(account|interaction|api\/auth\/oauth2\/(authorize|end-session))(\/|$)/;
/** Below the mount path. */
const publicDocument = /^\/(jwks|\.well-known\/[\w-]+)$/;
/** Below the mount path, without the ids of clients and interactions that may follow. */
const knownRoute =
  /^\/(jwks|\.well-known\/(openid-configuration|oauth-authorization-server)|oauth2\/(authorize|token|register|userinfo|introspect|revoke|end-session|par))(\/|$)/;

export const mountPath = '/api/auth';

/** Returns the part of a URL below the mount path, with its query; undefined for another URL. */
export function belowMount(url: string): string | undefined {
  if (!url.startsWith(mountPath)) return undefined;
  const rest = url.slice(mountPath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

/** Whether people open a path in a browser. @param path full path of the request */
export function isBrowserRoute(path: string): boolean {
  return browserRoute.test(path);
}

/** Whether a path is that of the metadata or public keys. @param path below the mount path */
export function isPublicDocument(path: string): boolean {
  return publicDocument.test(path);
}

/** Returns the route label of a path in metrics. @param path below the mount path */
export function routeOf(path: string): string {
  const [, route] = knownRoute.exec(path) ?? [];
  return route === undefined ? 'none' : `${mountPath}/${route}`;
}
