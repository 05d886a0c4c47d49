/**
 * A seeded source of random numbers, so that an interval computed again is the same interval: xoshiro128** 1.1
 * (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021), its state filled from the seed
 * by splitmix32. Not for secrets.
 *
 * @returns a function that draws an integer from 0 to bound - 1
 */
export function seededIndex(seed: number): (bound: number) => number {
  let counter = seed >>> 0;
  const splitmix = (): number => {
    counter = (counter + 0x9e3779b9) >>> 0;
    let mixed = counter;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  let a = splitmix();
  let b = splitmix();
  let c = splitmix();
  let d = splitmix();
  return (bound) => {
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    // Multiplying keeps the generator's better upper bits; the bias is below bound / 2^32.
    return Math.floor((scrambled / 0x1_0000_0000) * bound);
  };
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
