import { randomHex } from './random-hex.js';

const traceparentPattern =
  /^00-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;
const traceIdPattern = /^(?!0{32})[0-9a-f]{32}$/;
const sampledBit = 1;

/** The span of a traceparent (W3C Trace Context, version 00). */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Returns undefined if the text is not a well-formed traceparent. */
export function parseTraceparent(text: string | null | undefined): ReceivedSpan | undefined {
  const { traceId, spanId, flags } = traceparentPattern.exec(text ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & sampledBit) === sampledBit };
}

export interface NextTraceparentOptions {
  /** Id of the request or message, which a new trace takes over. */
  readonly originId?: string | undefined;
  /** By default the received decision, and true for a new trace. */
  readonly isSampled?: boolean | undefined;
}

/** Returns a traceparent with a new span id: in the received trace if it is well formed, else a new one. */
export function nextTraceparent(
  received: string | undefined,
  { originId, isSampled }: NextTraceparentOptions = {},
): string {
  const { traceId = newTraceId(originId), flags = flagsOf(true) } =
    traceparentPattern.exec(received ?? '')?.groups ?? {};
  const spanId = randomHex().slice(0, 16);
  return `00-${traceId}-${spanId}-${isSampled === undefined ? flags : flagsOf(isSampled)}`;
}

/**
 * Returns the id of a new trace. It is the id of the request or message if that has 32 hexadecimal digits, as
 * a UUID has: then one id finds the log lines of gateway, service and receivers.
 */
export function newTraceId(originId?: string): string {
  const id = originId?.replaceAll('-', '') ?? '';
  return traceIdPattern.test(id) ? id : randomHex();
}

function flagsOf(isSampled: boolean): string {
  return isSampled ? '01' : '00';
}
