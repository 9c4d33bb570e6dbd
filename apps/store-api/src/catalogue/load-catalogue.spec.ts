import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { setUpDatabase } from '../test/scratch.fixture.js';
import { catalogueOf } from './catalogue-file.fixture.js';
import { catalogueFile, loadCatalogue } from './load-catalogue.js';

const countReleases = statement('test.count-releases', 'SELECT count(*) AS releases FROM releases');

const fileWith = (product_type: string) => catalogueOf(uuidv7(), [{ product_type }]).file;

describe('a catalogue file', () => {
  const scratch = setUpDatabase();

  it('is rejected as a whole when a product has an unknown product type', async () => {
    await expect(loadCatalogue(scratch.database, fileWith('vinyl_10'))).rejects.toThrow(
      'Add the missing product types to the file: vinyl_10.',
    );
    expect(await scratch.database.row(countReleases)).toEqual({ releases: 0 });
  });

  it('is rejected with a price of 0, which cannot be charged', () => {
    const file = fileWith('vinyl_12_lp');
    expect(catalogueFile.safeParse(file).success).toBe(true);
    const free = file.product_types.map((type) => ({ ...type, prices: { ...type.prices, JPY: 0 } }));
    const { error } = catalogueFile.safeParse({ ...file, product_types: free });
    expect(error?.issues[0]?.path).toEqual(['product_types', 0, 'prices', 'JPY']);
  });

  it('is rejected with an available product without prices, and the error names the product', () => {
    const { file } = catalogueOf(uuidv7(), [{ prices: null, status: 'pending' }, { prices: null }]);
    expect(catalogueFile.safeParse(file).error?.issues).toMatchObject([
      { path: ['releases', 0, 'products', 1], message: 'needs prices to be available' },
    ]);
  });

  it('may use product types that an earlier file contained', async () => {
    await loadCatalogue(scratch.database, fileWith('vinyl_12_lp'));
    await loadCatalogue(scratch.database, { ...fileWith('vinyl_12_lp'), product_types: [] });
    expect(await scratch.database.row(countReleases)).toEqual({ releases: 2 });
  });
});
