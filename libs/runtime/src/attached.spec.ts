import { Attached } from './attached.js';

describe('a value that is attached to an object', () => {
  it('belongs to one object and one instance of Attached, until it is deleted', () => {
    const [names, ages] = [new Attached<string>(), new Attached<number>()];
    const [one, other] = [{}, {}];
    names.set(one, 'Aiko');
    ages.set(one, 40);
    names.set(other, 'Mori');
    expect([names.get(one), ages.get(one)]).toEqual(['Aiko', 40]);
    expect([names.get(other), ages.get(other)]).toEqual(['Mori', undefined]);
    names.delete(one);
    expect([names.get(one), ages.get(one), names.get(other)]).toEqual([undefined, 40, 'Mori']);
  });

  it('is not visible among the members of the object', () => {
    const request = { url: '/' };
    new Attached<string>().set(request, 'secret');
    expect(JSON.stringify(request)).toBe('{"url":"/"}');
    expect(Object.keys(request)).toEqual(['url']);
  });
});
