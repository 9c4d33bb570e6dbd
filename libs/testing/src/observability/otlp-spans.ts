export type OtlpSpan = ReturnType<typeof readOtlpSpans>[number];

interface Field {
  readonly number: number;
  readonly value: Buffer | bigint;
}

/** Field numbers of messages in opentelemetry-proto (trace.proto, resource.proto, common.proto). */
const fieldNumbers = {
  request: { resourceSpans: 1 },
  resourceSpans: { resource: 1, scopeSpans: 2 },
  resource: { attributes: 1 },
  scopeSpans: { spans: 2 },
  span: { traceId: 1, spanId: 2, parentSpanId: 4, name: 5, attributes: 9 },
  keyValue: { key: 1, value: 2 },
} as const;

/** Reads an ExportTraceServiceRequest of OTLP: the members of its spans that tests check. */
export function readOtlpSpans(request: Buffer) {
  const { resourceSpans, resource, scopeSpans, span } = fieldNumbers;
  return bytesOf(request, fieldNumbers.request.resourceSpans).flatMap((ofResource) => {
    const resourceMessage = bytesOf(ofResource, resourceSpans.resource)[0] ?? Buffer.alloc(0);
    const service = String(attributesOf(resourceMessage, resource.attributes)['service.name']);
    return bytesOf(ofResource, resourceSpans.scopeSpans)
      .flatMap((ofScope) => bytesOf(ofScope, scopeSpans.spans))
      .map((message) => ({
        service,
        name: text(message, span.name, 'utf8'),
        traceId: text(message, span.traceId, 'hex'),
        spanId: text(message, span.spanId, 'hex'),
        /** Empty for a root span. */
        parentSpanId: text(message, span.parentSpanId, 'hex'),
        attributes: attributesOf(message, span.attributes),
      }));
  });
}

function attributesOf(message: Buffer, number: number): Record<string, string | number> {
  return Object.fromEntries(
    bytesOf(message, number).map((keyValue) => {
      const { key, value: valueNumber } = fieldNumbers.keyValue;
      const [anyValue] = fieldsOf(bytesOf(keyValue, valueNumber)[0] ?? Buffer.alloc(0));
      const value = anyValue?.value ?? '';
      return [text(keyValue, key, 'utf8'), typeof value === 'bigint' ? Number(value) : String(value)];
    }),
  );
}

function text(message: Buffer, number: number, encoding: BufferEncoding): string {
  return bytesOf(message, number)[0]?.toString(encoding) ?? '';
}

/** Returns the bytes of each occurrence of a field whose type is a message, a string or bytes. */
function bytesOf(message: Buffer, number: number): Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

/** Returns the fields of a message of Protocol Buffers. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(offset);
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    offset += length;
    return message.subarray(offset - length, offset);
  };
  // Wire types of Protocol Buffers: 0 is a varint, 1 has 8 bytes, 5 has 4, 2 has its length before it.
  const readValue = (wireType: number): Buffer | bigint => {
    if (wireType === 0) return varint();
    if (wireType === 1) return bytes(8).readBigUInt64LE();
    return bytes(wireType === 5 ? 4 : Number(varint()));
  };
  while (offset < message.length) {
    const tag = Number(varint());
    fields.push({ number: tag >> 3, value: readValue(tag & 7) });
  }
  return fields;
}
