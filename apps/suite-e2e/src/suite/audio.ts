import { listen } from '@fulfilment/testing';
import { createServer } from 'node:http';

/** Serves 12 seconds of silence as WAV: 8 bits, 8 kHz, mono. */
export async function audioFile(title: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const rate = 8000;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(8, 14);
  const tag = Buffer.from(`${title}\0`);
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    chunk('LIST', Buffer.concat([Buffer.from('INFO'), chunk('INAM', tag)])),
    chunk('data', Buffer.alloc(12 * rate, 0x80)),
  ]);
  const file = chunk('RIFF', body);
  const { port, close } = await listen(createServer((_request, response) => response.end(file)));
  return { url: `http://127.0.0.1:${port}/track.wav`, stop: close };
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}
