import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

/** Record types of DNS queries (RFC 1035 §3.2.2, RFC 3596 §2.1). */
type QueryType = 'A' | 'AAAA';
/** The data of the only record of a response; `none` for a response without records. */
type RecordData = Buffer | 'none';
/** Responds to the query with this number, counted from 1 for each type; undefined for no response. */
export type Responder = (type: QueryType, number: number) => RecordData | undefined;

const queryTypes = new Map<number, QueryType>([
  [1, 'A'],
  [28, 'AAAA'],
]);
const headerBytes = 12;
/** Flags of the header: a response, recursion desired, recursion available (RFC 1035 §4.1.1). */
const responseFlags = 0x8180;

/** Starts a name server. Returns its address, and how many queries of each type it has received. */
export async function startNameServer(respond: Responder) {
  const counts = { A: 0, AAAA: 0 };
  const socket = createSocket('udp4');
  socket.on('message', (query: Buffer, sender: RemoteInfo) => {
    const type = queryTypes.get(query.readUInt16BE(nameEnd(query)));
    if (type === undefined) return;
    counts[type] += 1;
    const data = respond(type, counts[type]);
    if (data !== undefined) socket.send(responseTo(query, data), sender.port, sender.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, counts, close: () => socket.close() };
}

/** Returns the position after the name of the question: a sequence of labels that ends with an empty one. */
function nameEnd(query: Buffer): number {
  let position = headerBytes;
  for (let length = query.readUInt8(position); length > 0; length = query.readUInt8(position))
    position += length + 1;
  return position + 1;
}

/** Returns a response with the question of the query and the record (RFC 1035 §4). */
function responseTo(query: Buffer, data: RecordData): Buffer {
  const questionEnd = nameEnd(query) + 4; // type and class
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2); // the id
  header.writeUInt16BE(responseFlags, 2);
  header.writeUInt16BE(1, 4); // questions
  header.writeUInt16BE(data === 'none' ? 0 : 1, 6);
  const question = query.subarray(headerBytes, questionEnd);
  if (data === 'none') return Buffer.concat([header, question]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 | headerBytes, 0); // a pointer to the name of the question (RFC 1035 §4.1.4)
  query.copy(record, 2, questionEnd - 4, questionEnd); // its type and class
  record.writeUInt32BE(60, 6); // time to live in seconds
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([header, question, record, data]);
}
