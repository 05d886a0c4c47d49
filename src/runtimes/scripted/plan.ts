import type { ScriptStep } from '../../api/scenario.ts';
import type { Behaviour } from '../../api/vocabulary.ts';
import type { ScriptedConfig } from './config.ts';

/** What the adapter tells the agent's program once an attempt, as JSON in the state folder. */
export interface AgentPlan {
  readonly version: 1;
  readonly sessionId: string;
  readonly trial: string;
  /** 1-based. */
  readonly attempt: number;
  readonly scenarioId: string;
  readonly behaviour: Behaviour;
  readonly steps: readonly ScriptStep[];
  /** Absolute. */
  readonly workspace: string;
  /** The session file that the agent appends to; absolute. */
  readonly session: string;
  /** What the agent says when no model answered. */
  readonly placeholder: string;
  readonly config: ScriptedConfig;
  /** The model to ask once a turn; null where the run has none. `url` is the model endpoint's, without /v1. */
  readonly model: { readonly url: string; readonly id: string } | null;
}

/** What it is told each turn. */
export interface AgentTurn {
  /** 1-based. */
  readonly turn: number;
  readonly message: string;
}

/** Text of an agent that was never answered: the runtime's placeholder, which completes nothing. */
export const PLACEHOLDER = '[no answer: the model provider refused every request]';
