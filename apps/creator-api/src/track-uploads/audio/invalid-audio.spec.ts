import fc from 'fast-check';
import { changed, describeFile, id3v2, m4aWith, outcomeOf } from './audio-files.fixture.js';
import { ByteSource } from './byte-source.js';
import { detectAudioFormat } from './detect-audio-format.js';
import { InvalidAudio } from './invalid-audio.js';
import { measureAdts } from './measure-adts.js';
import { measureMp3 } from './measure-mp3.js';
import { measureMp4 } from './measure-mp4.js';
import { aiff, flac, sample, wave } from './audio-samples.fixture.js';

describe('describeAudio with an invalid file', () => {
  const tone = sample('tone.flac');
  const cbr = sample('tone-cbr.mp3');
  const m4a = sample('tone.m4a');
  const fastStart = sample('tone-faststart.m4a');
  it.each([
    ['HTML', Buffer.from('<!doctype html><html><body>Sign in</body></html>'), 'not_audio'],
    ['text', Buffer.from('RIFF is a nice word, but this is no WAVE'), 'not_audio'],
    ['one byte', Buffer.from([0xff]), 'not_audio'],
    ['zeros', Buffer.alloc(100_000), 'not_audio'],
    ['nothing but a tag', id3v2, 'not_audio'],
    ['a tag larger than the file', Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), 'not_audio'],
    ['PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'not_audio'],
    ['Ogg', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(1000)]), 'not_audio'],
    ['WAV of 9.99 s', wave({ seconds: 9.99 }), 'too_short'],
    ['AIFF of 5 s', aiff({ seconds: 5 }), 'too_short'],
    ['WAV without sound', wave({ seconds: 0 }), 'too_short'],
    ['WAV whose header states more sound', wave({ statedBytes: 10_000_000 }), 'broken'],
    ['WAV whose header states 4 GiB, like a stream', wave({ statedBytes: 0xffffffff }), 'broken'],
    ['WAV with 0 channels', changed(wave(), (copy) => copy.writeUInt16LE(0, 22)), 'broken'],
    ['WAV with a rate of 0', changed(wave(), (copy) => copy.writeUInt32LE(0, 24)), 'broken'],
    ['WAV at 1 Hz', wave({ rate: 1, seconds: 3600 }), 'broken'],
    ['WAV at 1 MHz', wave({ rate: 1_000_000 }), 'broken'],
    ['FLAC of more than 24 h', flac(Array(169_000).fill(0)), 'broken'], // 169000 × 4096 / 8000 Hz = 86528 s
    // The rate is a floating-point number of 80 bits.
    ['AIFF at 1 Hz', changed(aiff(), (copy) => copy.write('3fff8000000000000000', 28, 'hex')), 'broken'],
    [
      'FLAC at 1 Hz', // the rate has 20 bits, from byte 18 on
      changed(tone, (copy) => copy.writeUIntBE((1 << 4) | ((copy[20] ?? 0) & 15), 18, 3)),
      'broken',
    ],
    ['WAV in ADPCM', wave({ formatTag: 2 }), 'unsupported_codec'],
    ['AIFF whose header states more sound', aiff({ statedFrames: 1_000_000 }), 'broken'],
    ['AIFF-C in ima4', aiff({ compression: 'ima4' }), 'unsupported_codec'],
    [
      'FLAC whose header states more sound',
      changed(tone, (copy) => copy.writeUInt32BE(8000 * 3600, 22)),
      'broken',
    ],
    [
      'MP3 whose header states more sound',
      changed(cbr, (copy) => copy.writeUInt32BE(100_000, copy.indexOf('Info') + 8)),
      'broken',
    ],
    [
      'MP3 with garbage between its frames',
      Buffer.concat([cbr, Buffer.from('<html>'), cbr.subarray(-500)]),
      'broken',
    ],
    [
      'ALAC',
      Buffer.concat([
        m4a.subarray(0, m4a.indexOf('mp4a')),
        Buffer.from('alac'),
        m4a.subarray(m4a.indexOf('mp4a') + 4),
      ]),
      'unsupported_codec',
    ],
    ['a video', changed(m4a, (copy) => copy.write('vide', copy.indexOf('soun'))), 'not_audio'],
    [
      'MP3 in MPEG-4', // 0x6b is its stream type in the decoder descriptor (tag 04)
      changed(m4a, (copy) => copy.writeUInt8(0x6b, copy.indexOf('0480808017', 0, 'hex') + 5)),
      'unsupported_codec',
    ],
    ['M4A in a codec of speech', m4aWith({ configuration: '440856e500' }), 'unsupported_codec'],
    ['M4A that ends before its sound', fastStart.subarray(0, fastStart.indexOf('mdat') - 4), 'broken'],
    [
      'M4A that ends within the header of its sound',
      fastStart.subarray(0, fastStart.indexOf('mdat') + 3),
      'broken',
    ],
    [
      'M4A with a table of 4 G entries',
      changed(m4a, (copy) => copy.writeUInt32BE(0xffffffff, copy.indexOf('stsz') + 12)),
      'broken',
    ],
  ])('rejects %s', async (_what, bytes, code) => {
    expect(await outcomeOf(bytes)).toBe(code);
  });

  it('names a missing sample rate as the reason', async () => {
    const withoutRate = changed(wave(), (copy) => copy.writeUInt32LE(0, 24));
    await expect(describeFile(withoutRate)).rejects.toThrow('The file does not state its sample rate.');
  });

  it.each([1, 2, 3])('reports MP3 with %i bytes of a last frame header as truncated', async (length) => {
    const mp3 = sample('tone-plain.mp3');
    const truncated = Buffer.concat([mp3, mp3.subarray(0, length)]);
    await expect(describeFile(truncated)).rejects.toThrow('The file is truncated: it ends within a header.');
  });

  const withStatedLength = [
    'tone.flac',
    'tone-cbr.mp3',
    'tone-vbr.mp3',
    'tone.m4a',
    'tone-faststart.m4a',
  ] as const;
  it.each(withStatedLength)('rejects %s truncated at random bytes', async (name) => {
    const bytes = sample(name);
    const cut = fc.integer({ min: 1, max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(cut, async (length) => {
        expect(await outcomeOf(bytes.subarray(0, length))).toMatch(/^(broken|not_audio)$/);
      }),
      { numRuns: 60 },
    );
  });

  it.each(['tone-plain.mp3', 'tone.aac'])(
    'rejects %s truncated at random bytes, or describes the sound that is left',
    async (name) => {
      const bytes = sample(name);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (length) => {
          expect(await outcomeOf(bytes.subarray(0, length))).toMatch(
            /^(broken|not_audio|too_short|accepted: \w+, 1[012]\.\d+ s)$/,
          );
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    [
      'FLAC with many zeros',
      Buffer.concat([sample('tone.flac').subarray(0, 20_000), Buffer.alloc(8_000_000), Buffer.from([1])]),
    ],
    [
      'many consecutive tags',
      Buffer.concat(Array(300_000).fill(Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'))),
    ],
    [
      'zeros and a last byte',
      Buffer.concat([
        Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'),
        Buffer.alloc(8_000_000),
        Buffer.from([1]),
      ]),
    ],
    // After 10 s of sound, so that only their number is invalid.
    ['WAV with many empty chunks', wave({ trailer: Buffer.alloc(8 * 200_000, 'junk\0\0\0\0', 'latin1') })],
    [
      'FLAC with many empty metadata blocks',
      Buffer.concat([
        tone.subarray(0, 42),
        Buffer.alloc(4 * 200_000, Buffer.from([1, 0, 0, 0])),
        tone.subarray(42),
      ]), // after STREAMINFO
    ],
    [
      'M4A with many empty boxes',
      Buffer.concat([m4a, Buffer.alloc(8 * 200_000, '\0\0\0\x08free', 'latin1')]),
    ],
  ])('rejects %s within 5 s of CPU time', async (_what, bytes) => {
    const before = process.threadCpuUsage();
    expect(await outcomeOf(bytes)).toMatch(/^(broken|not_audio)$/);
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system).toBeLessThan(5_000_000);
  });

  /** A file of 512 MiB, the largest that is accepted, in which the same bytes are repeated. */
  class RepetitiveFile extends ByteSource {
    reads = 0;

    private readonly repeated: Buffer;

    constructor(private readonly unit: Buffer) {
      super(-1, 512 * 1024 * 1024);
      this.repeated = Buffer.alloc(200_000, unit); // more than is read at once
    }

    override bytes(offset: number, length: number): Buffer {
      this.reads += 1;
      const available = Math.max(0, Math.min(length, this.size - offset));
      return this.repeated.subarray(offset % this.unit.length).subarray(0, available);
    }
  }
  const mp3Frame = Buffer.alloc(24); // 8 kbit/s at 24 kHz
  mp3Frame.writeUInt32BE(0xfff31400);
  const adtsFrame = Buffer.from('fff1500000e000', 'hex'); // only a header
  it.each([
    ['tags', Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), detectAudioFormat],
    ['MP3 frames', mp3Frame, (file: ByteSource) => measureMp3(file, 0)],
    ['ADTS frames', adtsFrame, (file: ByteSource) => measureAdts(file, 0)],
    ['boxes of M4A', Buffer.from('\0\0\0\x08free', 'latin1'), (file: ByteSource) => measureMp4(file, 0)],
  ])(
    'reads only a part of a file of tiny %s, so that other files soon follow',
    (_what, repeated, analyse) => {
      const file = new RepetitiveFile(repeated);
      try {
        analyse(file);
      } catch (error) {
        if (!(error instanceof InvalidAudio)) throw error;
      }
      expect(file.reads).toBeLessThan(10_000_000);
    },
  );

  it('never throws another error than InvalidAudio for randomly changed files', async () => {
    const files = [...withStatedLength, 'tone-plain.mp3', 'tone.aac']
      .map(sample)
      .concat(wave({ title: 'a' }), aiff());
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255), inHeader: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 8 }),
        async (file, changes) => {
          const bytes = changed(file, (copy) => {
            for (const { at, byte, inHeader } of changes) copy[at % (inHeader ? 600 : copy.length)] = byte;
          });
          await outcomeOf(bytes);
        },
      ),
      { numRuns: 400 },
    );
  });
});
