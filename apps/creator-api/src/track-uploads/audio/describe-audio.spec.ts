import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spool } from '../spool.js';
import { AudioRefused } from './audio-refused.js';
import { aiff, flac, sample, wave } from './audio-samples.fixture.js';
import { describeAudio } from './describe-audio.js';

const directory = join(tmpdir(), `describe-audio-${randomUUID()}`);
const spool = new Spool(directory);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function describeFile(bytes: Buffer) {
  const file = await spool.open();
  try {
    await file.append(bytes);
    return await describeAudio(file.fd, file.size);
  } finally {
    await file.close();
  }
}

/** The code it is refused with. */
async function refusal(bytes: Buffer): Promise<string> {
  try {
    const { audio } = await describeFile(bytes);
    return `taken: ${audio.container}, ${audio.duration_seconds} s`;
  } catch (error) {
    if (error instanceof AudioRefused) return error.code;
    throw error;
  }
}

/** A header that is not what it was. */
function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

/** tone.m4a, whose decoder is told something else, and whose frames are said to last so long. */
function m4aWith({ configuration = '140856e500', delta = 1024, timescale = 16_000 }): Buffer {
  return changed(sample('tone.m4a'), (copy) => {
    copy.write(configuration, copy.indexOf('140856e500', 0, 'hex'), 'hex');
    copy.writeUInt32BE(delta, copy.indexOf('stts') + 16);
    copy.writeUInt32BE(timescale, copy.indexOf('mdhd') + 16);
  });
}

/** tone.m4a, whose samples lie in two chunks that begin at the same byte. */
function m4aInOnePlace(): Buffer {
  const m4a = changed(sample('tone.m4a'), (copy) => {
    for (const box of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stco']) {
      const length = copy.indexOf(box) - 4;
      copy.writeUInt32BE(copy.readUInt32BE(length) + 4, length);
    }
    copy.writeUInt32BE(2, copy.indexOf('stco') + 8);
    copy.writeUInt32BE(95, copy.indexOf('stsc') + 16);
  });
  const [offset, end] = [m4a.indexOf('stco') + 12, m4a.indexOf('stco') + 16];
  return Buffer.concat([m4a.subarray(0, end), m4a.subarray(offset, end), m4a.subarray(end)]);
}

const id3v2 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x02\0', 'latin1'), Buffer.alloc(256)]);
const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);

describe('reading audio', () => {
  const tagged = { title: 'Slow Signal', position: 3 };
  const untagged = { title: null, position: null };
  const mp3 = {
    container: 'MP3',
    codec: 'MPEG 2 Layer 3',
    sample_rate: 22_050,
    bit_depth: null,
    channels: 1,
  };
  const m4a = { container: 'M4A', codec: 'MPEG-4/AAC', sample_rate: 16_000, bit_depth: null, channels: 1 };
  const wav = { container: 'WAV', codec: 'PCM', sample_rate: 8000, bit_depth: 16, channels: 1 };
  it.each([
    [
      'tone.flac',
      12,
      { container: 'FLAC', codec: 'FLAC', sample_rate: 8000, bit_depth: 16, channels: 1 },
      tagged,
    ],
    ['tone-cbr.mp3', 12.068, mp3, tagged],
    ['tone-vbr.mp3', 12.068, mp3, { ...tagged, position: null }],
    ['tone-plain.mp3', 12.068, mp3, untagged],
    [
      'tone.aac',
      12.096,
      { container: 'AAC', codec: 'AAC', sample_rate: 16_000, bit_depth: null, channels: 1 },
      untagged,
    ],
    ['tone.m4a', 12.096, m4a, tagged],
    ['tone-faststart.m4a', 12.096, m4a, untagged],
  ])('%s', async (name, seconds, audio, tags) => {
    expect(await describeFile(sample(name))).toMatchObject({
      audio: { ...audio, duration_seconds: seconds },
      ...tags,
    });
  });

  it.each([
    ['WAV', wave(), wav],
    [
      'WAV in 24 bits, extensible',
      wave({ bits: 24, channels: 2, rate: 44_100, tag: 0xfffe }),
      { ...wav, bit_depth: 24, channels: 2, sample_rate: 44_100 },
    ],
    ['WAV in floating point', wave({ bits: 32, tag: 3 }), { ...wav, codec: 'IEEE_FLOAT', bit_depth: 32 }],
    ['AIFF', aiff(), { ...wav, container: 'AIFF' }],
    ['AIFF-C', aiff({ compression: 'sowt' }), { ...wav, container: 'AIFF' }],
  ])('%s', async (_name, bytes, audio) => {
    expect((await describeFile(bytes)).audio).toMatchObject({
      ...audio,
      duration_seconds: 12,
      loudness: null,
    });
  });

  it('takes loudness and a title from the tags', async () => {
    expect((await describeFile(sample('tone.flac'))).audio.loudness).toEqual({
      track_gain_db: -6.5,
      track_peak: 0.5,
    });
    expect((await describeFile(wave({ title: 'Low Water' }))).title).toBe('Low Water');
  });

  it('finds the end of every frame of FLAC, whatever its checksum', async () => {
    const values = Array.from({ length: 8192 }, (_, index) => (index * 40_503) & 0xffff);
    expect((await describeFile(flac(values))).audio.duration_seconds).toBe((8192 * 4096) / 8000);
  });

  it.each([
    ['told first', '2d8c080000'],
    ['told behind the rest', '158856e5c0'],
  ])('M4A in HE-AAC, %s: each frame is 2048 samples', async (_where, configuration) => {
    const heAac = m4aWith({ configuration, delta: 2048 });
    expect((await describeFile(heAac)).audio).toMatchObject({
      ...m4a,
      sample_rate: 16_000,
      duration_seconds: 24.192,
    });
  });

  it('M4A in frames of 960 samples', async () => {
    const short = m4aWith({ configuration: '140c000000', delta: 960 });
    expect((await describeFile(short)).audio.duration_seconds).toBe(11.34);
  });

  it('counts the sound where a header says less', async () => {
    const modest = changed(sample('tone-cbr.mp3'), (copy) => {
      copy.writeUInt32BE(5, copy.indexOf('Info') + 8);
    });
    expect((await describeFile(modest)).audio.duration_seconds).toBe(12.068);
  });

  it.each([
    ['an ID3v2 tag before FLAC', Buffer.concat([id3v2, sample('tone.flac')])],
    [
      'an ID3v2 tag and zeros before MP3',
      Buffer.concat([id3v2, Buffer.alloc(500), sample('tone-plain.mp3')]),
    ],
    ['an ID3v1 tag behind MP3', Buffer.concat([sample('tone-plain.mp3'), id3v1])],
    [
      'an APE tag behind MP3',
      Buffer.concat([sample('tone-plain.mp3'), Buffer.from('APETAGEX'), Buffer.alloc(100, 1)]),
    ],
    ['an ID3v1 tag behind FLAC', Buffer.concat([sample('tone.flac'), id3v1])],
    ['zeros behind AAC', Buffer.concat([sample('tone.aac'), Buffer.alloc(300)])],
    ['FLAC that does not say how long it is', changed(sample('tone.flac'), (copy) => copy.fill(0, 22, 26))],
  ])('takes %s', async (_what, bytes) => {
    expect((await describeFile(bytes)).audio.duration_seconds).toBeCloseTo(12, 0);
  });
});

describe('audio that is refused', () => {
  const tone = sample('tone.flac');
  const cbr = sample('tone-cbr.mp3');
  const m4a = sample('tone.m4a');
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
    ['WAV that claims more', wave({ claims: 10_000_000 }), 'broken'],
    ['WAV that claims 4 GiB, as a stream does', wave({ claims: 0xffffffff }), 'broken'],
    ['WAV with 0 channels', changed(wave(), (copy) => copy.writeUInt16LE(0, 22)), 'broken'],
    ['WAV with a rate of 0', changed(wave(), (copy) => copy.writeUInt32LE(0, 24)), 'broken'],
    ['WAV at 1 Hz', wave({ rate: 1, seconds: 3600 }), 'broken'],
    ['WAV at 1 MHz', wave({ rate: 1_000_000 }), 'broken'],
    ['FLAC of more than 24 h', flac(Array(169_000).fill(0)), 'broken'],
    ['AIFF at 1 Hz', changed(aiff(), (copy) => copy.write('3fff8000000000000000', 28, 'hex')), 'broken'],
    [
      'FLAC at 1 Hz',
      changed(tone, (copy) => copy.writeUIntBE((1 << 4) | ((copy[20] ?? 0) & 15), 18, 3)),
      'broken',
    ],
    ['WAV in ADPCM', wave({ tag: 2 }), 'unsupported_codec'],
    ['AIFF that claims more', aiff({ claims: 1_000_000 }), 'broken'],
    ['AIFF-C in ima4', aiff({ compression: 'ima4' }), 'unsupported_codec'],
    ['FLAC that claims more', changed(tone, (copy) => copy.writeUInt32BE(8000 * 3600, 22)), 'broken'],
    [
      'FLAC with a bit turned round',
      changed(tone, (copy) => copy.writeUInt8((copy[30_000] ?? 0) ^ 1, 30_000)),
      'broken',
    ],
    [
      'MP3 that claims more',
      changed(cbr, (copy) => copy.writeUInt32BE(100_000, copy.indexOf('Info') + 8)),
      'broken',
    ],
    [
      'MP3 with something between its frames',
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
      'M4A that claims more',
      changed(m4a, (copy) => copy.writeUInt32BE(0x7fffffff, copy.indexOf('mdhd') + 20)),
      'broken',
    ],
    ['M4A that counts its times by the second', m4aWith({ timescale: 1 }), 'broken'],
    ['M4A whose frames last 1000 times as long', m4aWith({ delta: 1_024_000 }), 'broken'],
    ['M4A whose frames last for ages', m4aWith({ delta: 0xffffffff, timescale: 1 }), 'broken'],
    ['M4A whose frames last no time', m4aWith({ delta: 0 }), 'broken'],
    ['M4A at 1 Hz', m4aWith({ configuration: '1780000088', delta: 1024, timescale: 1 }), 'broken'],
    ['M4A at 8 kHz that becomes 96 kHz', m4aWith({ configuration: '2d880800', delta: 2048 }), 'broken'],
    ['M4A of the same bytes again', m4aInOnePlace(), 'broken'],
    [
      'M4A with samples of no bytes',
      changed(m4a, (copy) => copy.writeUInt32BE(0, copy.indexOf('stsz') + 16)),
      'broken',
    ],
    [
      'MP3 in MPEG-4',
      changed(m4a, (copy) => copy.writeUInt8(0x6b, copy.indexOf('0480808017', 0, 'hex') + 5)),
      'unsupported_codec',
    ],
    ['M4A in a codec of speech', m4aWith({ configuration: '440856e500' }), 'unsupported_codec'],
    [
      'M4A whose samples lie elsewhere',
      changed(m4a, (copy) => copy.writeUInt32BE(0x7fffffff, copy.indexOf('stco') + 12)),
      'broken',
    ],
    [
      'M4A with a table of 4 G entries',
      changed(m4a, (copy) => copy.writeUInt32BE(0xffffffff, copy.indexOf('stsz') + 12)),
      'broken',
    ],
  ])('%s', async (_what, bytes, code) => {
    expect(await refusal(bytes)).toBe(code);
  });

  const whole = ['tone.flac', 'tone-cbr.mp3', 'tone-vbr.mp3', 'tone.m4a', 'tone-faststart.m4a'] as const;
  it.each(whole)('%s, wherever it is cut off', async (name) => {
    const bytes = sample(name);
    const cut = fc.integer({ min: 1, max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(cut, async (length) => {
        expect(await refusal(bytes.subarray(0, length))).toMatch(/^(broken|not_audio)$/);
      }),
      { numRuns: 60 },
    );
  });

  it.each(['tone-plain.mp3', 'tone.aac'])(
    '%s within a frame; between two it is a shorter file',
    async (name) => {
      const bytes = sample(name);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (length) => {
          expect(await refusal(bytes.subarray(0, length))).toMatch(
            /^(broken|not_audio|too_short|taken: \w+, 1[012]\.\d+ s)$/,
          );
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    [
      'FLAC with zeros for ever',
      Buffer.concat([sample('tone.flac').subarray(0, 20_000), Buffer.alloc(8_000_000), Buffer.from([1])]),
    ],
    [
      'tags, one behind the other',
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
  ])('%s, in reasonable time', async (_what, bytes) => {
    const startedAtMs = performance.now();
    expect(await refusal(bytes)).toMatch(/^(broken|not_audio)$/);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  });

  it('or taken, but never a surprise, whatever bytes are changed', async () => {
    const files = [...whole, 'tone-plain.mp3', 'tone.aac'].map(sample).concat(wave({ title: 'a' }), aiff());
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255), inHeader: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 8 }),
        async (file, changes) => {
          const bytes = changed(file, (copy) => {
            for (const { at, byte, inHeader } of changes) copy[at % (inHeader ? 600 : copy.length)] = byte;
          });
          await refusal(bytes);
        },
      ),
      { numRuns: 400 },
    );
  });
});
