import type { TrialResource } from '../../src/api/trial-resource.ts';
import { conditionOf, type Namespace, type Run } from '../e2e/support/cluster.ts';

/** What came of a fault. */
export interface Seen {
  /** Of the attempt that the fault hit. */
  readonly class: string | null;
  readonly reason: string | null;
  /** Of the trial, in the end. */
  readonly attempts: number;
  readonly says: string;
}

export interface FaultTest {
  /** Of the namespace that the fault is provoked in. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly run: (namespace: Namespace) => Promise<Seen>;
}

/** Name of the one run of a fault's namespace. */
export const RUN = 'run';

/** What the first trial of the run shows, once the run has ended. */
export async function seenAtEnd(
  namespace: Namespace,
  options: { readonly seconds?: number; readonly says?: string } = {},
): Promise<Seen> {
  const run = await namespace.ended(RUN, options.seconds ?? 180);
  const [trial] = await namespace.trials(RUN);
  return seen(run, trial, options.says);
}

/** The attempt that a fault hits is the first one. */
export function seen(run: Run, trial: TrialResource | undefined, said = ''): Seen {
  const attempts = trial?.status?.attempts ?? [];
  return {
    class: attempts[0]?.class ?? null,
    reason: attempts[0]?.reason ?? null,
    attempts: attempts.length,
    says: [
      said,
      run.status?.progress ?? '',
      run.status?.reason ?? '',
      conditionOf(run, 'Failed')?.message ?? '',
      trial?.status?.reason ?? '',
      attempts[0]?.reason ?? '',
    ].join('\n'),
  };
}

/** Whatever the run and its trials say of themselves now: what a person sees without -o yaml, and conditions. */
export async function saidNow(namespace: Namespace): Promise<string> {
  const run = await namespace.getRun(RUN);
  const trials = await namespace.trials(RUN);
  return [
    run.status?.reason ?? '',
    ...(run.status?.conditions ?? []).map(({ message }) => message),
    ...trials.map(({ status }) => status?.reason ?? ''),
  ].join('\n');
}

/** Waits until run or trials say `text`. */
export async function untilSaid(namespace: Namespace, text: string, seconds = 60): Promise<string> {
  return await namespace.until(
    `somebody says ${text}`,
    async () => {
      const said = await saidNow(namespace);
      return said.includes(text) ? said : null;
    },
    seconds,
  );
}
