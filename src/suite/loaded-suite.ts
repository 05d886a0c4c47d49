import type { Scenario } from '../api/scenario.ts';
import type { Task } from './task-file.ts';

type Place = readonly (string | number)[];

/** Where a scenario or task was declared. */
export interface Declared {
  /** Path of its file, relative to the suite's root, with forward slashes. */
  readonly file: string;
  /** 1-based line of a field in `file`. */
  readonly lineOf: (path: Place) => number;
  /** The file's content as it was parsed, before defaults. */
  readonly written: Readonly<Record<string, unknown>>;
}

export interface LoadedScenario extends Declared {
  readonly id: string;
  readonly scenario: Scenario;
}

export interface LoadedTask extends Declared {
  readonly id: string;
  readonly task: Task;
}

interface SuiteBase {
  /** Absolute path without links. Everything a suite names must lie in it. */
  readonly root: string;
}

export interface ScenarioSuite extends SuiteBase {
  readonly format: 'scenario';
  /** In order of their files' paths. */
  readonly scenarios: readonly LoadedScenario[];
}

export interface TaskSuite extends SuiteBase {
  readonly format: 'task';
  readonly tasks: readonly LoadedTask[];
}

export type LoadedSuite = ScenarioSuite | TaskSuite;
