import { createHash } from 'node:crypto';
import { seededRandom } from './random.ts';
import { productTypes, type ProductType } from './product-types.ts';

interface DemoCreator {
  readonly uuid: string;
  readonly name: string;
}

const releasesPerCreator = 40;
/** At least the number of products of a release, so that each product has its own number. */
const productNumbersPerRelease = 4;
/** The first and second words in the names of most releases, such as "Quiet Machinery". */
const firstWords = 'Tidal Paper Northern Quiet Copper Winter Salt Hollow Amber Electric Distant Velvet'.split(
  ' ',
);
const secondWords =
  'Maps Lanterns Rooms Signals Gardens Machines Weather Letters Harbours Machinery Rivers Hours'.split(' ');
/** Names with unusual characters, by the index of the release among those of its creator. */
const unusualNames: Readonly<Record<number, string>> = {
  7: '夜のフェリー',
  15: 'Cafe\u0301 Ångström',
  23: 'رسائل الملح',
  31: '100% Sea_Glass 🌊',
};
const guests = ['Mira Vane', 'The Slow Ferry', 'Odd Meridian', 'Lumen & Fell'] as const;
const songs =
  'Low Water,Slack Tide,Beacon,Undertow,Harbour Wall,Moorings,Night Watch,Spring Tide,Drift,Landfall'.split(
    ',',
  );

/** Returns the demo catalogue, with the same ids, names and prices at every start. */
export function demoCatalogue(creators: readonly DemoCreator[]) {
  return {
    product_types: productTypes.map(
      ({ tracks: _tracks, sides: _sides, title_suffix: _suffix, ...type }) => type,
    ),
    releases: creators.flatMap((creator, creatorIndex) =>
      Array.from({ length: releasesPerCreator }, (_, index) => release(creator, creatorIndex, index)),
    ),
  };
}

/**
 * Returns a release. The moduli and multipliers are arbitrary: they spread names, optional members and
 * statuses.
 * @param releaseIndex among the releases of the creator
 */
function release(creator: DemoCreator, creatorIndex: number, releaseIndex: number) {
  const releaseNumber = creatorIndex * releasesPerCreator + releaseIndex;
  const random = seededRandom(releaseNumber + 1);
  const name =
    unusualNames[releaseIndex] ??
    `${firstWords[(releaseIndex + creatorIndex * 5) % firstWords.length]} ${secondWords[(releaseIndex * 7 + creatorIndex) % secondWords.length]}`;
  const createdAt = new Date(Date.UTC(2024, 0, 8 + releaseNumber * 5, 9, releaseIndex));
  const status = statusOf(releaseIndex);
  const types = productTypesOf(releaseNumber);
  return {
    id: stableUuid(createdAt, `release:${releaseNumber}`),
    creator_id: creator.uuid,
    name: name.normalize('NFC'),
    artist_name: creator.name,
    additional_artists: releaseIndex % 6 === 0 ? [random.pick(guests)] : [],
    release_date: releaseIndex % 11 === 3 ? null : createdAt.toISOString().slice(0, 10),
    description:
      releaseIndex % 5 === 4
        ? null
        : `${name}, recorded in ${1 + random.below(9)} days and cut at half speed.`,
    cover_image_url: releaseIndex % 9 === 8 ? null : `https://cdn.example/covers/${releaseNumber}.jpg`,
    copyright: `℗ & © ${createdAt.getUTCFullYear()} ${creator.name}`,
    created_at: createdAt.toISOString(),
    products: types.map((type, position) => {
      const productNumber = releaseNumber * productNumbersPerRelease + position;
      return {
        id: stableUuid(createdAt, `product:${productNumber}`),
        title: `${name.normalize('NFC')} (${type.title_suffix})`,
        product_type: type.product_type,
        status,
        quantity: initialStock(releaseNumber, position),
        weight_grams: position === 0 ? type.weight_grams : null, // null: the weight of the product type
        barcode: restrictedEan(productNumber + 1),
        glb_model: type.product_type.startsWith('vinyl')
          ? `https://cdn.example/models/${type.product_type}.glb`
          : null,
        prices: status === 'pending' ? null : type.prices,
        tracks: makeTracks(type, releaseNumber),
      };
    }),
  };
}

/** Returns the status of a release's products: available, or for a few releases pending or unavailable. */
function statusOf(releaseIndex: number): 'pending' | 'unavailable' | 'available' {
  if (releaseIndex % 13 === 5) return 'pending';
  return releaseIndex % 17 === 9 ? 'unavailable' : 'available';
}

/** Returns two or three product types for a release. */
function productTypesOf(releaseNumber: number): readonly ProductType[] {
  const count = releaseNumber % 6 === 0 ? 3 : 2;
  return Array.from(
    { length: count },
    (_, position) => productTypes[(releaseNumber + position * 2) % productTypes.length],
  ).filter((type) => type !== undefined);
}

/** Returns the stock of a limited edition, else null. One limited edition of each creator is sold out. */
function initialStock(releaseNumber: number, position: number): number | null {
  if (position !== 0 || releaseNumber % 10 !== 2) return null;
  return releaseNumber % releasesPerCreator === 32 ? 0 : 50 + (releaseNumber % 7) * 75;
}

function makeTracks(type: ProductType, releaseNumber: number) {
  const random = seededRandom(releaseNumber * 31 + type.tracks);
  const tracksPerSide = Math.ceil(type.tracks / Math.max(type.sides.length, 1));
  return Array.from({ length: type.tracks }, (_, index) => ({
    title: `${songs[(index + releaseNumber) % songs.length]}${index >= songs.length ? ' II' : ''}`,
    duration_seconds: 95 + random.below(260),
    side: type.sides[Math.floor(index / tracksPerSide)] ?? null,
  }));
}

/** Returns an EAN-13 in the range 200–299, which GS1 reserves for internal use: no real product has it. */
function restrictedEan(number: number): string {
  const digits = `200${String(number).padStart(9, '0')}`;
  const sum = [...digits].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Returns a UUIDv7 of the given time whose other bits are derived from a name. */
export function stableUuid(at: Date, name: string): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(name).digest('hex');
  const variant = (8 + (parseInt(hash.charAt(3), 16) % 4)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}
