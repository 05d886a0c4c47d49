import type { RunLayout } from '../api/run-layout.ts';
import { DIMENSIONS } from '../api/vocabulary.ts';
import { writeFileDurably, writeJsonDurably } from '../files/durable.ts';
import { buildReport, type BuiltReport } from './build-report.ts';
import { embedDetails } from './page/embedded-details.ts';
import type { DimensionScore } from './page/plot-specs.ts';
import { drawPlots } from './page/plots.ts';
import { renderPage } from './page/render-page.ts';
import { csvHeader, csvRecord, jsonLine } from './rows.ts';

/**
 * Makes a run's report and writes it into its folder: trials.jsonl, trials.csv, report.html and, last,
 * report.json. The same records give the same bytes, so that it may be made again at any time.
 *
 * @throws InvalidInputError when `root` is not the folder of a run; InfrastructureError `DiskFull`
 */
export async function writeReport(root: string): Promise<BuiltReport> {
  const built = await buildReport(root);
  const { stored, report, rows, tally } = built;
  const layout: RunLayout = stored.layout;
  await writeFileDurably(layout.trialsJsonl, rows.map(jsonLine).join(''));
  await writeFileDurably(layout.trialsCsv, csvHeader() + rows.map(csvRecord).join(''));
  const plots = await drawPlots(dimensionScores(built), rows, tally);
  const details = await embedDetails(stored, rows);
  await writeFileDurably(layout.reportHtml, await renderPage({ stored, report, rows, plots, details }));
  await writeJsonDurably(layout.reportJson, report);
  return built;
}

function dimensionScores({ report }: BuiltReport): DimensionScore[] {
  return DIMENSIONS.flatMap((dimension) => {
    const one = report.dimensions[dimension];
    const interval = report.intervals.dimensions[dimension];
    if (one === undefined) return [];
    return [{ dimension, score: one.score, low: interval?.low ?? null, high: interval?.high ?? null }];
  });
}
