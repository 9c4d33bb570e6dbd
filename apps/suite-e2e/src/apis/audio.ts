import { listen } from '@fulfilment/testing';
import { createServer } from 'node:http';

export const samplesPerSecond = 8000;
export const durationSeconds = 12;
const silence = 0x80; // the middle of the unsigned 8-bit range

/** Serves 12 s of silence as WAV (PCM, 8 bits, mono) with a title in its tags. */
export async function serveAudio(title: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0); // PCM
  format.writeUInt16LE(1, 2); // channels
  format.writeUInt32LE(samplesPerSecond, 4);
  format.writeUInt32LE(samplesPerSecond, 8); // bytes per second
  format.writeUInt16LE(1, 12); // bytes per sample
  format.writeUInt16LE(8, 14); // bits per sample
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    chunk('LIST', Buffer.concat([Buffer.from('INFO'), chunk('INAM', Buffer.from(`${title}\0`))])),
    chunk('data', Buffer.alloc(durationSeconds * samplesPerSecond, silence)),
  ]);
  const file = chunk('RIFF', body);
  const { port, close } = await listen(createServer((_request, response) => response.end(file)));
  return { url: `http://127.0.0.1:${port}/track.wav`, stop: close };
}

/** Returns a chunk of a RIFF file. */
function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}
