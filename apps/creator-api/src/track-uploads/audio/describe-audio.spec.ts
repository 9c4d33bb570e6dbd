import {
  changed,
  describeFile,
  id3v1,
  id3v2,
  m4aWith,
  m4aWithGaps,
  outcomeOf,
} from './audio-files.fixture.js';
import {
  aiff,
  flac,
  flacOfLargeFrames,
  flacSamplesPerFrame,
  maxFlacSamplesPerFrame,
  sample,
  wave,
} from './audio-samples.fixture.js';

describe('describeAudio', () => {
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
    ['tone-cbr.mp3', 12, mp3, tagged],
    ['tone-vbr.mp3', 12, mp3, { ...tagged, position: null }],
    // tone-plain.mp3 and tone.aac do not state the padding of their encoder, so it counts.
    ['tone-plain.mp3', 12.068, mp3, untagged],
    [
      'tone.aac',
      12.096,
      { container: 'AAC', codec: 'AAC', sample_rate: 16_000, bit_depth: null, channels: 1 },
      untagged,
    ],
    ['tone.m4a', 12, m4a, tagged],
    ['tone-faststart.m4a', 12, m4a, untagged],
  ])('describes %s', async (name, seconds, audio, tags) => {
    expect(await describeFile(sample(name))).toMatchObject({
      audio: { ...audio, duration_seconds: seconds },
      ...tags,
    });
  });

  it.each([
    ['WAV', wave(), wav],
    [
      'WAV in 24 bits, extensible',
      wave({ bits: 24, channels: 2, rate: 44_100, formatTag: 0xfffe }),
      { ...wav, bit_depth: 24, channels: 2, sample_rate: 44_100 },
    ],
    [
      'WAV in floating point',
      wave({ bits: 32, formatTag: 3 }),
      { ...wav, codec: 'IEEE_FLOAT', bit_depth: 32 },
    ],
    ['AIFF', aiff(), { ...wav, container: 'AIFF' }],
    ['AIFF-C', aiff({ compression: 'sowt' }), { ...wav, container: 'AIFF' }],
  ])('describes %s', async (_name, bytes, audio) => {
    expect((await describeFile(bytes)).audio).toMatchObject({
      ...audio,
      duration_seconds: 12,
      loudness: null,
    });
  });

  it('reads loudness and title from the tags', async () => {
    expect((await describeFile(sample('tone.flac'))).audio.loudness).toEqual({
      track_gain_db: -6.5,
      track_peak: 0.5,
    });
    expect((await describeFile(wave({ title: 'Low Water' }))).title).toBe('Low Water');
  });

  it('counts the samples of FLAC by the position of its last frame', async () => {
    const frames = 8192;
    // Different values, so that the checksums of the frames vary, too.
    const values = Array.from({ length: frames }, (_, index) => (index * 40_503) & 0xffff);
    const seconds = (frames * flacSamplesPerFrame) / 8000;
    expect((await describeFile(flac(values))).audio.duration_seconds).toBe(seconds);
  });

  it('finds the last frame of FLAC among frames of more than 1 MiB', async () => {
    const { audio } = await describeFile(flacOfLargeFrames(2));
    const milliseconds = (2 * maxFlacSamplesPerFrame) / 8;
    expect(audio.duration_seconds).toBe(Math.floor(milliseconds) / 1000);
  });

  // An AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) in hex.
  it.each([
    ['in stereo', '141056e500', 2],
    ['in HE-AAC', '2d8c080000', 1],
    ['without a channel configuration', '140056e500', 2], // the number in the sample entry
  ])('reads the channels of M4A %s', async (_what, configuration, channels) => {
    expect((await describeFile(m4aWith({ configuration }))).audio).toMatchObject({ ...m4a, channels });
  });

  it.each([
    [96_000, '100856e500', 0],
    [88_200, '108856e500', 88_200 % 65_536],
  ])(
    'of M4A has the sample rate %i, which its sample entry cannot state',
    async (rate, configuration, stated) => {
      const file = changed(m4aWith({ configuration }), (copy) => {
        copy.writeUInt16BE(stated, copy.indexOf('stsd') + 44);
      });
      expect((await describeFile(file)).audio).toMatchObject({ sample_rate: rate, duration_seconds: 12.064 });
    },
  );

  it.each([
    ['has no edit list and no tag', m4aWith({}), 12.064],
    // 12.064 s less 1536 samples at 16 kHz.
    ['has the tag of iTunes', m4aWithGaps(m4aWith({}), { before: 0x400, after: 0x200 }), 11.968],
    [
      'has the tag of iTunes and an edit list, which takes precedence',
      m4aWithGaps(sample('tone.m4a'), { before: 0x800, after: 0x800 }),
      12,
    ],
  ])('reports the audible seconds of an M4A file that %s', async (_what, bytes, seconds) => {
    expect((await describeFile(bytes)).audio.duration_seconds).toBe(seconds);
  });

  it.each(['short.mp3', 'short.m4a'])(
    'rejects %s, which has more than 10 s of samples but 9.99 s of audible sound',
    async (name) => {
      expect(await outcomeOf(sample(name))).toBe('too_short');
    },
  );

  it('counts the actual sound if the header states less', async () => {
    const understated = changed(sample('tone-cbr.mp3'), (copy) => {
      copy.writeUInt32BE(5, copy.indexOf('Info') + 8); // the number of frames
    });
    expect((await describeFile(understated)).audio.duration_seconds).toBe(12);
  });

  it.each([
    ['an ID3v2 tag before FLAC', Buffer.concat([id3v2, sample('tone.flac')])],
    [
      'an ID3v2 tag and zeros before MP3',
      Buffer.concat([id3v2, Buffer.alloc(500), sample('tone-plain.mp3')]),
    ],
    ['an ID3v1 tag after MP3', Buffer.concat([sample('tone-plain.mp3'), id3v1])],
    [
      'an APE tag after MP3',
      Buffer.concat([sample('tone-plain.mp3'), Buffer.from('APETAGEX'), Buffer.alloc(100, 1)]),
    ],
    ['an ID3v1 tag after FLAC', Buffer.concat([sample('tone.flac'), id3v1])],
    ['zeros after AAC', Buffer.concat([sample('tone.aac'), Buffer.alloc(300)])],
    ['FLAC without a stated length', changed(sample('tone.flac'), (copy) => copy.fill(0, 22, 26))],
  ])('accepts %s', async (_what, bytes) => {
    expect((await describeFile(bytes)).audio.duration_seconds).toBeCloseTo(12, 0);
  });
});
