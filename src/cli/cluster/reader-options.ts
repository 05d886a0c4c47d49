import type { Command } from 'commander';
import { collectWords, positiveInteger } from '../option-parsers.ts';

/** How the pod is started that a run's files are read through. */
export interface ReaderFlags {
  readonly image?: string;
  readonly pullSecret?: string[];
  readonly startSeconds: number;
}

export function addReaderOptions(command: Command): Command {
  return command
    .option('--image <reference>', "the operator's image for the reader pod (default: the run's own)")
    .option('--pull-secret <names>', 'Secrets to pull that image with', collectWords(String))
    .option('--start-seconds <n>', 'how long the reader pod may take to start', positiveInteger, 180);
}
