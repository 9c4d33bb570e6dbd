import { Store1764000000001 } from './0001-store.js';

/** In the order they are applied. */
export const migrations = [Store1764000000001];
