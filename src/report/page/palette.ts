/**
 * Colours of plots and page. Plots are drawn in the light ones; the page's style sheet exchanges each for the
 * dark one by its value, so that a plot follows the reader's colour scheme.
 */
export const PALETTE = {
  ink: { light: '#1d2733', dark: '#e4e9ee' },
  muted: { light: '#5c6875', dark: '#9aa7b4' },
  grid: { light: '#dfe5ea', dark: '#323c47' },
  bar: { light: '#a9c9e8', dark: '#2f5d8a' },
  point: { light: '#1f5f99', dark: '#8cc4f5' },
  pass: { light: '#1a7f5a', dark: '#4cc38f' },
  threshold_miss: { light: '#d18e12', dark: '#e9b44c' },
  safety_failure: { light: '#c4314b', dark: '#f27088' },
  execution_failure: { light: '#7450b8', dark: '#b497ee' },
  unsupported: { light: '#8b96a2', dark: '#76828e' },
  pending: { light: '#c3cbd3', dark: '#4a5561' },
} as const;
