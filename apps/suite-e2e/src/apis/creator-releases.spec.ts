import { eventually } from '@fulfilment/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { ApiClient } from '../suite/api-client.js';
import { durationSeconds, samplesPerSecond, serveAudio } from './audio.js';
import { errorOf, fieldsOf } from '../suite/error-envelope.js';
import { type Merchant, newMerchant, storeReleaseId } from '../suite/merchant.js';
import { operate } from '../suite/operator.js';
import { placeOrder } from '../suite/orders.js';
import { dashboardToken } from '../suite/sign-in.js';
import { demoUser, suite } from '../suite/the-suite.js';

const api = '/creator/api/v1';
const releases = `${api}/releases`;
const edition = { title: 'A title', release_type_id: 1 };

describe('releases of the Creator API', () => {
  let merchant: Merchant;
  let otherMerchant: Merchant;
  let operator: ApiClient;
  beforeAll(async () => {
    [merchant, otherMerchant] = await Promise.all([newMerchant(), newMerchant()]);
    operator = new ApiClient(await dashboardToken(demoUser('operator@platform.example')));
  });

  it('are pending in the Store API until the operator approves them', async () => {
    const title = `Nachtzug ${randomBytes(4).toString('hex')}`;
    const { body } = await merchant.dashboard
      .post(releases, { title: `  ${title} `, release_type_id: 3, ean: '2012345678905' })
      .expect(201);
    expect(body).toEqual({
      id: expect.any(String),
      title,
      release_type_id: 3,
      ean: '2012345678905',
      created_at: expect.any(String),
    });
    const id = await storeReleaseId(merchant, title);
    const shown = async () => (await merchant.store.get(`/store/v1/releases/${id}`).expect(200)).body;
    const pending = await shown();
    expect(pending).toMatchObject({ name: title, status: 'pending', products: [{ status: 'pending' }] });
    const [{ id: sku }] = pending.products;
    const rejected = await merchant.store
      .post('/store/v1/shipping-rates', { country_code: 'GB', items: [{ sku, quantity: 1 }] })
      .expect(422);
    expect(errorOf(rejected).details).toEqual([{ field: 'items.0.sku', reason: 'not_available' }]);
    await operate(['release', 'approve', id]);
    expect(await shown()).toMatchObject({
      status: 'available',
      products: [{ id: sku, status: 'available' }],
    });
    await placeOrder(merchant.store, [{ sku, quantity: 1 }]);
  });

  it('have tracks that the Store API lists after their analysis, and uploads that other organisations cannot see', async () => {
    const title = `Nachtzug ${randomBytes(4).toString('hex')}`;
    const { body: release } = await merchant.dashboard
      .post(releases, { title, release_type_id: 2 })
      .expect(201);
    const audio = await serveAudio('Slow Signal');
    const path = `${releases}/${release.id}/track-upload`;
    const upload = { track_uuid: randomUUID(), upload_url: audio.url };
    const registered = await merchant.dashboard.post(path, upload).expect(202);
    expect(registered.body).toEqual({
      id: expect.any(String),
      status: expect.stringMatching(/^(pending|processing)$/),
      workflow_id: expect.any(String),
      status_url: `${suite.base_url}${api}/track-uploads/${registered.body.id}`,
    });
    expect(registered.headers['location']).toBe(registered.body.status_url);
    const status = `${api}/track-uploads/${registered.body.id}`;
    const read = await eventually(async () => {
      const { body } = await merchant.dashboard.get(status).expect(200);
      return body.status === 'completed' || body.status === 'failed' ? body : undefined;
    });
    expect(read).toMatchObject({
      status: 'completed',
      track_uuid: upload.track_uuid,
      failure: null,
      audio: {
        container: 'WAV',
        codec: 'PCM',
        sample_rate: samplesPerSecond,
        bit_depth: 8,
        channels: 1,
        duration_seconds: durationSeconds,
      },
    });
    await audio.stop();
    const id = await storeReleaseId(merchant, title);
    const listing = await eventually(async () => {
      const { body } = await merchant.store.get(`/store/v1/releases/${id}`).expect(200);
      const [product] = body.products;
      return product.track_listing.length > 0 ? product.track_listing : undefined;
    });
    expect(listing).toEqual([
      { position: 1, title: 'Slow Signal', duration_seconds: durationSeconds, side: null },
    ]);
    await otherMerchant.dashboard.get(status).expect(404);
    await otherMerchant.dashboard.post(path, upload).expect(404);
  });

  it.each([
    ['an empty title', { title: ' ' }, 'title'],
    ['a title of 61 characters', { title: '🎸'.repeat(61) }, 'title'],
    ['an unknown type', { release_type_id: 9 }, 'release_type_id'],
    ['a type that is text', { release_type_id: '1' }, 'release_type_id'],
    ['an EAN of 33 characters', { ean: '1'.repeat(33) }, 'ean'],
  ])('are rejected with %s', async (_case, wrong, field) => {
    const body = { ...edition, ...wrong };
    expect(fieldsOf(await merchant.dashboard.post(releases, body).expect(400))).toEqual([field]);
  });

  it('require the member `creator` from the operator, and are rejected for creators of another organisation', async () => {
    expect(fieldsOf(await operator.post(releases, edition).expect(400))).toEqual(['creator']);
    await otherMerchant.dashboard.post(releases, { ...edition, creator: merchant.creator.uuid }).expect(404);
  });
});
