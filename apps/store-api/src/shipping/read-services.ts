import { publicId } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { ShippingServiceView } from './shipping.shapes.js';

// The response has at most 500 services; further ones would not be listed.
const listServices = statement(
  'shipping.services',
  'SELECT id, name, description, regions FROM shipping_services ORDER BY position, id LIMIT 500',
);

/** Lists the shipping services. Every creator may use every service. */
@Injectable()
export class ReadServices {
  constructor(private readonly database: Database) {}

  async run(): Promise<{ data: ShippingServiceView[] }> {
    const rows = await this.database.rows<ShippingServiceView>(listServices);
    return { data: rows.map((service) => ({ ...service, id: publicId('svc', service.id) })) };
  }
}
