/** The address of every order that tools place. */
export const shippingAddress = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
} as const;
