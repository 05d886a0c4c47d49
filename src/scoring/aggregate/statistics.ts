import { pythonRound } from '../python-round.ts';

/** Sum from left to right. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Arithmetic mean; 0 of nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

/** Population standard deviation; 0 of one value or none. */
export function populationDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

/**
 * Linearly interpolated percentile: position (n - 1) p / 100 in ascending order.
 *
 * @param ascending sorted values, at least one
 * @param p 0 to 100
 */
export function percentile(ascending: ArrayLike<number>, p: number): number {
  const position = ((ascending.length - 1) * p) / 100;
  const below = Math.floor(position);
  const lower = ascending[below];
  if (lower === undefined) throw new RangeError('percentile of no values');
  const upper = ascending[Math.ceil(position)] ?? lower;
  return lower === upper ? lower : lower + (upper - lower) * (position - below);
}

export interface Distribution {
  readonly min: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

/** How values (seconds, tokens, dollars) lie, with four decimals; null of none. */
export function distribution(values: readonly number[]): Distribution | null {
  if (values.length === 0) return null;
  const ascending = values.toSorted((left, right) => left - right);
  const round = (value: number) => pythonRound(value, 4);
  return {
    min: round(percentile(ascending, 0)),
    mean: round(mean(values)),
    median: round(percentile(ascending, 50)),
    p95: round(percentile(ascending, 95)),
    max: round(percentile(ascending, 100)),
  };
}
