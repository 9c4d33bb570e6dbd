/** Sets an entry and makes it the newest of the map. Deletes the oldest if there are more than `maxSize`. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxSize && oldest !== undefined) map.delete(oldest);
}
