import type { Observation, Usage } from '../api/attempt.ts';
import type { RuntimeSpec } from '../api/benchmark-run.ts';
import type { PublicScenario } from '../api/suite-index.ts';
import type { TraceEvent } from '../api/trace.ts';
import type { RuntimeId } from '../api/vocabulary.ts';

/** A file the shim writes before a turn, as the agent's user. `path` is absolute. */
export interface TurnFile {
  readonly path: string;
  readonly mode: number;
  readonly content: string | Uint8Array;
}

/** Where an attempt's things lie for the agent. All absolute, as the agent's processes see them. */
export interface AgentPaths {
  /** The agent's working folder: the scenario's files. */
  readonly workspace: string;
  /** The runtime's own state (sessions, configuration), fresh for each attempt, kept between turns. */
  readonly state: string;
  /** HOME of the agent, fresh for each attempt. */
  readonly home: string;
  /** Programs of ours that an adapter may start, e.g. the scripted agent; the attempt's own, read-only for the agent. */
  readonly program: string;
  /** The Node.js that runs the shim: a path, or the word `node`, which the shim understands as itself. */
  readonly node: string;
}

/** What an adapter is told once an attempt. Nothing in it is hidden from the agent. */
export interface AttemptContext {
  readonly trial: string;
  /** 1-based. */
  readonly attempt: number;
  readonly scenario: PublicScenario;
  readonly runtime: RuntimeSpec;
  readonly paths: AgentPaths;
  /** Address of the attempt's model endpoint, without the /v1 of its paths; null where the run has no model. */
  readonly modelEndpoint: string | null;
  readonly modelId: string | null;
  /** Folder of `<behaviour>.yaml` scripts; given to the scripted runtime only, else null. */
  readonly scriptedDir: string | null;
}

export interface TurnInput {
  /** 1-based. */
  readonly turn: number;
  /** Byte for byte what the agent is told. */
  readonly message: string;
  /** The bound of this turn, for runtimes that take one. */
  readonly timeoutSeconds: number;
}

/** One process to start. */
export interface TurnCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly files: readonly TurnFile[];
}

/** What a runtime left after a turn, in the words of the project. */
export interface SessionReading {
  readonly sessionId: string | null;
  /** Whole session so far, in order; `seq` counts from 1. */
  readonly events: readonly TraceEvent[];
  /** Stop reason of the last model answer in the runtime's own word; null where it has none. */
  readonly stopReason: string | null;
  /** Provider errors and other facts that only the session shows. */
  readonly observations: readonly Observation[];
  readonly usage: Usage;
  /** Only the runtime's placeholder text, or no assistant message at all. */
  readonly placeholder: boolean;
  /** Files to keep unchanged under native/, absolute. */
  readonly nativeFiles: readonly string[];
  /** State the checks of type audit_state_match look into; empty unless the runtime has it. */
  readonly auditState: Readonly<Record<string, unknown>>;
}

/** Normalised names of a runtime's tools: total and versioned; what it does not list is `unmapped`. */
export interface ToolMap {
  readonly version: string;
  readonly tools: Readonly<Record<string, { readonly tool: string; readonly surface: string | null }>>;
}

/** How the harness speaks to one agent runtime. Adapters run in the harness, never beside the agent. */
export interface RuntimeAdapter {
  readonly id: RuntimeId;
  readonly version: string;
  readonly toolMap: ToolMap;
  /** OpenClaw surfaces that this runtime offers; a scenario that needs another is `unsupported`. */
  readonly surfaces: readonly string[];
  /** Whether `stopReason` words of this runtime mean complete; unknown words are null. */
  readonly completesWith: (stopReason: string) => boolean | null;
  /** Problems of a run's configuration for this runtime, found before anything is started. */
  readonly validate: (runtime: RuntimeSpec) => readonly { field: string; message: string; remedy?: string }[];
  /**
   * Files written into state, home or program before the first turn, by the harness, before the agent exists. The
   * agent's user owns those in state and home, and can read those in program.
   *
   * @throws InvalidInputError when the run's configuration lacks what this attempt needs
   */
  readonly prepare: (context: AttemptContext) => Promise<readonly TurnFile[]>;
  readonly turn: (context: AttemptContext, input: TurnInput) => TurnCommand;
  /** Absolute files and folders whose growth or change means that the agent lives. */
  readonly liveness: (context: AttemptContext) => readonly string[];
  /** Reads the session with lstat and O_NOFOLLOW, once every process of the agent is dead. */
  readonly readSession: (context: AttemptContext) => Promise<SessionReading>;
}
