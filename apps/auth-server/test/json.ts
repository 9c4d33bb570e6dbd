/** A response's JSON, for tests to look into. */
export async function json(response: Response): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await response.text());
}
