/** Where people come with a browser: problems are pages there. */
const visited = /^\/(account|interaction|api\/auth\/oauth2\/(authorize|end-session))(\/|$)/;
/** Below the mount path. */
const publicDocument = /^\/(jwks|\.well-known\/[\w-]+)$/;
/** Below the mount path, without what may stand behind: ids of clients and sign-ins. */
const known =
  /^\/(jwks|\.well-known\/(openid-configuration|oauth-authorization-server)|oauth2\/(authorize|token|register|userinfo|introspect|revoke|end-session|par))(\/|$)/;

export const mountPath = '/api/auth';

/** @param path whole, as it was asked for */
export function isVisited(path: string): boolean {
  return visited.test(path);
}

/** Metadata and keys, the same for everybody. @param path below the mount path */
export function isPublicDocument(path: string): boolean {
  return publicDocument.test(path);
}

/** As metrics name it. @param path below the mount path */
export function routeOf(path: string): string {
  const [, route] = known.exec(path) ?? [];
  return route === undefined ? 'none' : `${mountPath}/${route}`;
}
