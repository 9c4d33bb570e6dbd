/** Returns the JSON of a response, untyped for assertions. */
export async function json(response: Response): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await response.text());
}
