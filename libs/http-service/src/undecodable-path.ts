import type { NextFunction, Request, Response } from 'express';

/**
 * A path whose percent-encoding is no UTF-8 (`%ff`) is taken as the characters it is written with. So it meets the same checks in the same
 * order as any other path, and is an id that does not exist, instead of an error before anybody asked who is calling.
 */
export function undecodablePath(request: Request, _response: Response, next: NextFunction): void {
  const [path = '/', ...query] = request.url.split('?');
  if (!isDecodable(path)) request.url = [path.replaceAll('%', '%25'), ...query].join('?');
  next();
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
