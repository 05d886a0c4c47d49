import type { TrialRow } from '../../api/report.ts';
import { readTrial, type StoredRun } from '../read-run.ts';
import { readTrialDetail, type DetailLimits, type TrialDetail } from '../trial-detail.ts';
import { embeddedJson, type Markup } from './html.ts';

/** Characters that all trials' transcripts and files together may take on the page. */
const PAGE_BUDGET = 6_000_000;

/** Trials with details; beyond that nobody reads them one by one. */
const MOST_DETAILS = 2000;

/** Bounds of one trial's share of it. */
const SMALLEST_SHARE = 16_000;
const LARGEST_SHARE = 300_000;

export interface EmbeddedDetails {
  /** Data blocks, one a trial, with ids `detail-<index of the row>`. */
  readonly blocks: readonly Markup[];
  readonly embedded: number;
  /** Trials whose details found no room. */
  readonly leftOut: number;
}

/**
 * Reads and embeds what explains trials, those that did not pass first, until the page's budget is used. A
 * trial whose details are larger than its share is cut down to beginnings and ends.
 *
 * @param budget characters for all trials together
 */
export async function embedDetails(
  stored: StoredRun,
  rows: readonly TrialRow[],
  budget = PAGE_BUDGET,
): Promise<EmbeddedDetails> {
  const share = Math.min(
    LARGEST_SHARE,
    Math.max(SMALLEST_SHARE, Math.floor(budget / Math.max(1, rows.length))),
  );
  const entries = new Map(stored.index.scenarios.map((entry) => [entry.id, entry]));
  const order = [...rows.entries()].sort(([, a], [, b]) => Number(a.passed) - Number(b.passed));
  const blocks: Markup[] = [];
  let used = 0;
  let leftOut = 0;
  for (const [index, row] of order) {
    const entry = entries.get(row.scenario_id);
    if (entry === undefined || used >= budget || blocks.length >= MOST_DETAILS) {
      leftOut += 1;
      continue;
    }
    const trial = await readTrial(stored, entry, row.trial);
    let block: Markup | undefined;
    for (const limits of [limitsFor(share), limitsFor(share / 4), limitsFor(share / 16)]) {
      const detail = await readTrialDetail(stored, trial, limits);
      if (detail === null) break;
      block = embeddedJson(`detail-${index}`, forPage(detail));
      if (block.text.length <= share) break;
      // Checks with long words can still be too much; such a trial is shown by its row alone.
      block = undefined;
    }
    if (block === undefined) {
      leftOut += 1;
      continue;
    }
    blocks.push(block);
    used += block.text.length;
  }
  return { blocks, embedded: blocks.length, leftOut };
}

/** Limits under which an ordinary trial fits its share of characters. */
function limitsFor(share: number): DetailLimits {
  const size = Math.max(1000, Math.floor(share));
  return {
    transcript: {
      // Single events can be long; they are cut once they are read.
      bytes: Math.max(262_144, size * 2),
      events: Math.max(8, Math.floor(size / 300)),
      eventText: Math.max(200, Math.floor(size / 20)),
    },
    files: {
      files: Math.max(3, Math.floor(size / 2000)),
      fileBytes: Math.max(4096, size),
      diffLines: Math.max(20, Math.floor(size / 400)),
    },
  };
}

/** The row stands in the page's table already. */
function forPage({ row: _row, ...detail }: TrialDetail): Omit<TrialDetail, 'row'> {
  return detail;
}
