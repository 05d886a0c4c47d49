import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { ENV, TERMINATION_MESSAGE_BYTES } from '../api/pod-contract.ts';
import type { Environment } from './request.ts';

/** The file that the kubelet shows in the container's status once the container has ended. */
export interface TerminationMessage {
  /**
   * Replaces the whole message. Never throws: a message that cannot be written must not end the work.
   *
   * @returns whether it was written
   */
  readonly write: (text: string) => boolean;
}

const DEFAULT_PATH = '/dev/termination-log';

/**
 * The container's termination message. It is replaced by one write without a moment in which it is empty or half
 * written, because the container may be killed at any time: the file is a mount, so it can be neither renamed nor
 * replaced, and a shorter text is filled up with spaces, which JSON ignores.
 */
export function terminationMessage(env: Environment): TerminationMessage {
  const path = env[ENV.TERMINATION_LOG] ?? DEFAULT_PATH;
  return {
    write: (text) => {
      const bytes = Buffer.from(text);
      if (bytes.length > TERMINATION_MESSAGE_BYTES) return false;
      try {
        const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o644);
        try {
          const longest = Math.max(bytes.length, Math.min(fstatSync(fd).size, TERMINATION_MESSAGE_BYTES));
          const filled = Buffer.concat([bytes, Buffer.alloc(longest - bytes.length, ' ')]);
          return writeSync(fd, filled, 0, filled.length, 0) === filled.length;
        } finally {
          closeSync(fd);
        }
      } catch {
        return false;
      }
    },
  };
}
