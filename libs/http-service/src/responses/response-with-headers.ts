/**
 * A body with headers such as `Location`. Use cases return it, the route declares the status, and
 * `ServiceAdapter` sends both.
 */
export class ResponseWithHeaders<Body> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}
