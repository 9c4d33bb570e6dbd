/** SQL: the columns of `orders` that `OrderColumns` describes. */
export const orderColumns =
  'id, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount, royalty_amount, item_count, client_id';

/** SQL: the columns of `order_items` that `ItemColumns` describes, with the names of the response. */
export const itemColumns =
  'id AS uuid, release_id AS release_group, release_title, ean, quantity, unit_amount, total_amount, vat_amount, royalty_amount, royalty_rate, product_type';

/** SQL: the columns of the primary key of `order_counts`, in the order in which rows are locked. */
export const countKey = 'creator_id, placed_on, payment_status, dispatch_status';
/** SQL: the columns of the primary key of `order_counts_by_app`, in the order in which rows are locked. */
export const appCountKey = 'creator_id, client_id, placed_on, payment_status, dispatch_status';
