import type { TrialRow } from '../../api/report.ts';
import type { RunTally } from '../tally.ts';
import { PALETTE } from './palette.ts';
import { plotSpecs, type DimensionScore, type PlotSpec } from './plot-specs.ts';

/** A drawn plot. */
export interface Plot extends Omit<PlotSpec, 'spec'> {
  readonly svg: string;
}

/**
 * Draws all plots of a report. The plotting library is loaded here and only here: it takes longer to load
 * than a small report to write.
 */
export async function drawPlots(
  dimensions: readonly DimensionScore[],
  rows: readonly TrialRow[],
  tally: RunTally,
): Promise<Plot[]> {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  return Promise.all(
    plotSpecs(dimensions, rows, tally).map(async ({ spec, ...about }) => {
      const view = new vega.View(vega.parse(compile(spec, { config: CONFIG }).spec), { renderer: 'none' });
      const svg = await view.toSVG();
      view.finalize();
      return { ...about, svg: bareSvg(svg) };
    }),
  );
}

const CONFIG = {
  // The caption says what a plot shows; a label on each of a thousand marks would help nobody.
  aria: false,
  background: 'transparent',
  padding: 2,
  view: { stroke: null },
  font: 'system-ui, sans-serif',
  legend: { disable: true },
  axis: {
    labelColor: PALETTE.muted.light,
    titleColor: PALETTE.muted.light,
    gridColor: PALETTE.grid.light,
    domainColor: PALETTE.grid.light,
    tickColor: PALETTE.grid.light,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal' as const,
  },
};

/** Without namespaces, which name addresses on the network and which markup inside a page does not need. */
function bareSvg(svg: string): string {
  return svg
    .replace(/ xmlns(:xlink)?="[^"]*"/g, '')
    .replace(/<svg /, '<svg aria-hidden="true" focusable="false" ');
}
