import type { DispatchEvent } from '../api/attempt-meta.ts';
import type { RuntimeSpec } from '../api/benchmark-run.ts';
import type { PublicScenario } from '../api/suite-index.ts';
import type { ResolvedTimeouts } from '../api/timeouts.ts';
import type { RuntimeAdapter, SessionReading } from '../runtimes/adapter.ts';
import type { Clock } from '../api/clock.ts';
import type { ModelAccess } from './model-access.ts';
import type { Patience } from './run-turn.ts';

/** Everything one attempt is made from. */
export interface AttemptRequest {
  readonly trial: string;
  /** 1-based. */
  readonly attempt: number;
  /** Of the pod in a cluster; on one machine any word that is unique to this attempt. */
  readonly podUID: string;
  readonly scenario: PublicScenario;
  /** Frozen public folder of the scenario: prompt.md, workspace/, skills/. */
  readonly publicDir: string;
  /** Directory that this attempt makes and fills; result.json in it is the sign that it is whole. */
  readonly attemptDir: string;
  readonly adapter: RuntimeAdapter;
  readonly runtime: RuntimeSpec;
  readonly modelEndpoint: string | null;
  readonly modelId: string | null;
  readonly scriptedDir: string | null;
  readonly timeouts: ResolvedTimeouts;
  readonly versions: { readonly operator: string; readonly runtime: string };
  readonly clock?: Clock;
  /** Ends the attempt, which is then still collected; reason `cancelled`, else it counts as interrupted. */
  readonly signal?: AbortSignal;
  /** Told each step as it happens, e.g. for whoever watches from outside; it must not throw. */
  readonly onStep?: (event: DispatchEvent) => void;
  /** Ends the collection before its own bound; what is not whole then is not graded. */
  readonly collectUntil?: AbortSignal;
  /** The next public message after a turn of a supervised task, or null to end the attempt. */
  readonly nextMessage?: (session: SessionReading, turn: number) => Promise<string | null>;
  /** How the harness carries the agent's model calls, where it does. */
  readonly modelAccess?: ModelAccess;
  readonly patience?: Patience;
}
