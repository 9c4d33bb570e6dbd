import { jest } from '@jest/globals';
import { predictLatencies } from './capacity.ts';

describe('capacity', () => {
  it.each(['orders', 'service-cores', 'database-cores', 'sku-orders', 'shipments', 'events', 'replicas'])(
    'rejects an invalid --%s before it prints a prediction',
    (option) => {
      const print = jest.spyOn(console, 'log').mockReturnValue();
      expect(() => predictLatencies([`--${option}`, 'many'])).toThrow(option);
      expect(print).not.toHaveBeenCalled();
      print.mockRestore();
    },
  );
});
