/** Exit codes of every `clawbench` command. */
export const EXIT = {
  DONE: 0,
  /** The run ended, or stopped, with execution failures. */
  EXECUTION_FAILURES: 1,
  /** Wrong usage or invalid input. */
  INVALID_INPUT: 2,
  CLUSTER_UNREACHABLE: 3,
  INTERRUPTED: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
