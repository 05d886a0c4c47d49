/**
 * Python's `round(x, digits)`: the decimal nearest to the exact binary value of x; a value exactly halfway goes
 * to the even neighbour. So `round(2.675, 2)` is 2.67 (the double lies below) and `round(0.03125, 4)` is 0.0312
 * (an exact tie). Every number of a score is rounded this way, because the numbers of other implementations of
 * the paper are.
 *
 * @param digits decimals to keep, 0 to 100
 */
export function pythonRound(x: number, digits: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  // x lies halfway between two decimals exactly when x * 2 * 10^digits is an odd integer. That product is
  // (x * 2^(digits + 1)) * 5^digits, and the first factor is exact in binary: oddness is decided by it alone.
  const doubled = x * 2 ** (digits + 1);
  if (Number.isInteger(doubled) && Math.abs(doubled % 2) === 1) {
    const numerator = BigInt(doubled) * 5n ** BigInt(digits);
    const below = (numerator - 1n) / 2n;
    const even = below % 2n === 0n ? below : below + 1n;
    const magnitude = Number(`${even < 0n ? -even : even}e-${digits}`);
    return x < 0 ? -magnitude : magnitude;
  }
  // toFixed, too, takes the decimal nearest to the exact binary value; only its ties differ.
  return Number(x.toFixed(digits));
}

/** Decimals of every stored score, rate and weight. */
const SCORE_DIGITS = 4;

/** `pythonRound` to the four decimals in which scores are stored. */
export function roundScore(x: number): number {
  return pythonRound(x, SCORE_DIGITS);
}
