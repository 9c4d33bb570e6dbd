import { Webhooks1764000000001 } from './0001-webhooks.js';

/** In the order they are applied. */
export const migrations = [Webhooks1764000000001];
