import { adapterFor } from '../runtimes/registry.ts';
import { InvalidInputError } from '../api/errors.ts';
import type { RunView } from './run-view.ts';

/** Surfaces that the run's runtime offers; none where there is no adapter, for then the run fails by itself. */
export function surfacesOf(run: Pick<RunView, 'spec'>): readonly string[] {
  try {
    return adapterFor(run.spec.runtime.id).surfaces;
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) return [];
    throw thrown;
  }
}
