/** Where people come with a browser: problems are pages there. */
const visited = /^\/(account|interaction|api\/auth\/oauth2\/(authorize|end-session))(\/|$)/;
/** Below the mount path. */
const publicDocument = /^\/(jwks|\.well-known\/[\w-]+)$/;

export const mountPath = '/api/auth';

/** @param path whole, as it was asked for */
export function isVisited(path: string): boolean {
  return visited.test(path);
}

/** Metadata and keys, the same for everybody. @param path below the mount path */
export function isPublicDocument(path: string): boolean {
  return publicDocument.test(path);
}
