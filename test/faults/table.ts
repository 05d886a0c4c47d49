import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A row of table.md. */
export interface FaultRow {
  readonly id: string;
  readonly done: string;
  /** null: no attempt was hit, or the agent ended in order; `*`: any. */
  readonly class: string | null;
  readonly reason: string | null;
  readonly attempts: number | '*';
  /** null: nothing in particular. */
  readonly says: string | null;
  readonly runs: 'ci' | 'nightly';
  readonly alone: boolean;
}

/** The fault table, in order. */
export function faultTable(): FaultRow[] {
  const text = readFileSync(join(import.meta.dirname, 'table.md'), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, id = '', done = '', failureClass = '', reason = '', attempts = '', says = '', runs = ''] = cells;
    const words = runs.split(',').map((word) => word.trim());
    if (cells.length !== 9 || id === '' || (words[0] !== 'ci' && words[0] !== 'nightly')) {
      throw new Error(`table.md: not a row of seven cells: ${line}`);
    }
    const orNull = (cell: string): string | null => (cell === '-' ? null : cell);
    return {
      id,
      done,
      class: orNull(failureClass),
      reason: orNull(reason),
      attempts: attempts === '*' ? '*' : Number(attempts),
      says: orNull(says),
      runs: words[0],
      alone: words.includes('alone'),
    };
  });
}
