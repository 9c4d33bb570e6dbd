/** A span as a collector receives it. */
export interface OtlpSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

interface Field {
  readonly number: number;
  readonly value: Buffer | bigint;
}

/**
 * Reads an ExportTraceServiceRequest of OTLP: the members of its spans that tests check. The numbers are
 * those of opentelemetry-proto, trace/v1/trace.proto.
 */
export function readOtlpSpans(request: Buffer): OtlpSpan[] {
  return children(request, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(children(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1);
    const service = String(resource['service.name']);
    return children(resourceSpans, 2).flatMap((scopeSpans) =>
      children(scopeSpans, 2).map((span) => ({
        service,
        name: text(span, 5, 'utf8'),
        traceId: text(span, 1, 'hex'),
        spanId: text(span, 2, 'hex'),
        parentSpanId: text(span, 4, 'hex'),
        attributes: attributesOf(span, 9),
      })),
    );
  });
}

function attributesOf(message: Buffer, number: number): Record<string, string | number> {
  return Object.fromEntries(
    children(message, number).map((keyValue) => {
      const [anyValue] = fieldsOf(children(keyValue, 2)[0] ?? Buffer.alloc(0));
      const value = anyValue?.value ?? '';
      return [text(keyValue, 1, 'utf8'), typeof value === 'bigint' ? Number(value) : String(value)];
    }),
  );
}

function text(message: Buffer, number: number, encoding: BufferEncoding): string {
  return children(message, number)[0]?.toString(encoding) ?? '';
}

function children(message: Buffer, number: number): Buffer[] {
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
