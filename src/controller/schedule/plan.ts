/*
 * Which trials may start next is decided for all runs at once: every run has its own bound, the installation has one
 * for all, and what is short is shared fairly. Slots are counted from live pods, never kept in books.
 */

/** A trial that could start, in the order in which its run wants its trials. */
export interface Candidate {
  /** `namespace/name` of the Trial. */
  readonly key: string;
  /** 1-based. */
  readonly attempt: number;
}

/** What a run wants and has. */
export interface Demand {
  readonly runUid: string;
  /** Milliseconds since the epoch: of two equals the older run goes first. */
  readonly createdAt: number;
  /** Most live pods that the run may have now. */
  readonly limit: number;
  /** Live pods that it has, those included that the cache does not show yet. */
  readonly live: number;
  readonly candidates: readonly Candidate[];
}

/**
 * Chooses what starts now. Each free slot goes to the run that has fewest, so that a run of thousands cannot keep
 * another from its first trial.
 */
export function planStarts(demands: readonly Demand[], globalParallelism: number): Candidate[] {
  let free = globalParallelism - demands.reduce((sum, { live }) => sum + live, 0);
  const open = demands
    .map(({ createdAt, limit, live, candidates }) => ({ createdAt, limit, slots: live, candidates, next: 0 }))
    .filter(({ limit, slots, candidates }) => slots < limit && candidates.length > 0);
  const starts: Candidate[] = [];
  while (free > 0 && open.length > 0) {
    open.sort((left, right) => left.slots - right.slots || left.createdAt - right.createdAt);
    const [neediest] = open;
    const candidate = neediest?.candidates[neediest.next];
    if (neediest === undefined || candidate === undefined) {
      open.shift();
      continue;
    }
    starts.push(candidate);
    free -= 1;
    neediest.next += 1;
    neediest.slots += 1;
    if (neediest.slots >= neediest.limit || neediest.next >= neediest.candidates.length) open.shift();
  }
  return starts;
}
