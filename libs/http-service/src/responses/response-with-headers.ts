/** A body with headers such as `Location`, which use cases return and `ServiceAdapter` sends. */
export class ResponseWithHeaders<Body> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}
