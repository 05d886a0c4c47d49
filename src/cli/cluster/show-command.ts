import { withShownFiles } from '../download/fetch-shown.ts';
import { interruptSignal } from '../interrupt.ts';
import { getRun, withCluster } from './connect.ts';
import type { ClusterFlags } from './options.ts';
import type { ReaderFlags } from './reader-options.ts';
import { withReader } from './reader-session.ts';

/**
 * Fetches what `clawbench show` needs of a run in a cluster, and hands over its temporary folder.
 *
 * @returns false when Ctrl-C ended it
 */
export async function withRunFolder(
  command: ReaderFlags & { readonly flags: ClusterFlags; readonly name: string },
  query: string | undefined,
  work: (root: string) => Promise<void>,
): Promise<boolean> {
  const interrupt = interruptSignal('ending: deleting the reader pod (once more to end at once)');
  try {
    await withCluster(command.flags, async (cluster) => {
      const run = await getRun(cluster, command.name);
      await withReader(
        cluster,
        run,
        {
          image: command.image,
          pullSecrets: command.pullSecret ?? [],
          startMs: command.startSeconds * 1000,
          signal: interrupt.signal,
          say: (text) => {
            console.error(text);
          },
        },
        (reader) => withShownFiles(reader, query, work),
      );
    });
    return true;
  } catch (error) {
    if (interrupt.signal.aborted) return false;
    throw error;
  } finally {
    interrupt.release();
  }
}
