import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { QUICK, type Namespace } from '../../e2e/support/cluster.ts';
import { RUN, seenAtEnd, type FaultTest, type Seen } from '../fault.ts';
import { killIn, processesOf, starveOfMemory } from '../node.ts';
import { slowRun } from '../suite.ts';
import { podInTurn } from './pods.ts';

const LIMITS = { limits: { memory: '256Mi', 'ephemeral-storage': '256Mi' } };

/** What an agent does to itself and its surroundings, or could have done: graded, never run again. */
export const AGENT_FAULTS: Readonly<Record<string, FaultTest>> = {
  'executor-oom': { run: (namespace) => misbehaving(namespace, 'oom') },
  'disk-flood': { run: (namespace) => misbehaving(namespace, 'flood') },

  'shim-killed': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 60 });
      killIn(await podInTurn(namespace), 'shim.mjs', 'serve');
      return await seenAtEnd(namespace);
    },
  },

  'executor-oom-shim': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 60 });
      const [shim] = processesOf(await podInTurn(namespace), 'shim.mjs', 'serve');
      await starveOfMemory(shim ?? 0);
      return await seenAtEnd(namespace);
    },
  },

  'planted-link': {
    run: async (namespace) => {
      const hidden = '/clawbench/trial/../../suite/hidden';
      const plant = [
        'for f in /clawbench/work /clawbench/work/workspace /clawbench/state /clawbench/home; do',
        `ln -sfn ${hidden} $f/hidden; ln -sfn /etc/passwd $f/passwd; ln -sfn / $f/root; done;`,
        'ln -sfn /etc/hostname /clawbench/state/session.jsonl.tmp; ls -la /clawbench/trial /clawbench/public || true',
      ].join(' ');
      await slowRun(namespace, RUN, { before: [{ shell: plant }] });
      const seen = await seenAtEnd(namespace);
      const folder = await namespace.artifacts(RUN);
      try {
        const leaked = await filesWith(join(folder, 'trials'), 'root:x:0');
        if (leaked.length > 0) throw new Error(`a planted link was followed: ${leaked.join(', ')}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
      return seen;
    },
  },

  'forged-connection': {
    run: async (namespace) => {
      // The standard answer is written only where the harness's port refuses.
      const forge = `node -e "require('net').connect(7070,'127.0.0.1').on('connect',()=>{require('fs').writeFileSync('word-s1','');process.exit(0)}).on('error',()=>process.exit(0))"; if [ -e word-s1 ]; then rm -f question.txt; kill -9 $PPID; fi`;
      await slowRun(namespace, RUN, { before: [{ shell: forge }] });
      return await seenAtEnd(namespace);
    },
  },
};

async function misbehaving(namespace: Namespace, behaviour: string): Promise<Seen> {
  await namespace.run(RUN, {
    suite: { builtin: {}, scenarioIds: [QUICK] },
    runtime: { id: 'scripted', behaviour, resources: LIMITS },
  });
  return await seenAtEnd(namespace);
}

/** Files below a folder that contain `text`, links not followed. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}
