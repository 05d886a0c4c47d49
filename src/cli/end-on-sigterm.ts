/**
 * Ends the program at SIGTERM, for work that may be cut off anywhere. The first process of a container would
 * otherwise not notice it, and be waited for until the grace period is over.
 */
export function endOnSigterm(): void {
  process.once('SIGTERM', () => process.exit(143));
}
