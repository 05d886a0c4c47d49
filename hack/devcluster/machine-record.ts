import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJsonDurably } from '../../src/files/durable.ts';
import type { KernelState } from './node/kernel-state.ts';
import { MACHINE } from './paths.ts';
import { isAlive, startProcess, type ProcessIdentity, type ProcessPlan } from './system/processes.ts';

/** What a cluster did to the machine, written before it is done, so that it can be undone by whoever comes. */
const ownerSchema = z.object({ state: z.string(), nodes: z.number().int().min(1) });
const processSchema = z.object({
  name: z.string(),
  pid: z.number().int(),
  startTime: z.string(),
  log: z.string(),
});
const kernelSchema = z.object({
  chains: z.array(z.string()),
  sets: z.array(z.string()),
  settings: z.record(z.string(), z.string()),
});

export type Owner = z.infer<typeof ownerSchema>;
export type RecordedProcess = z.infer<typeof processSchema>;

/** Whose cluster the machine holds; undefined: none. */
export async function readOwner(): Promise<Owner | undefined> {
  return existsSync(MACHINE.owner)
    ? ownerSchema.parse(JSON.parse(await readFile(MACHINE.owner, 'utf8')))
    : undefined;
}

export async function writeOwner(owner: Owner): Promise<void> {
  await mkdir(MACHINE.processes, { recursive: true });
  await writeJsonDurably(MACHINE.owner, owner);
}

export function readBefore(): KernelState | undefined {
  return existsSync(MACHINE.before)
    ? kernelSchema.parse(JSON.parse(readFileSync(MACHINE.before, 'utf8')))
    : undefined;
}

export async function writeBefore(state: KernelState): Promise<void> {
  await writeJsonDurably(MACHINE.before, state);
}

/** All that were started, alive or not. */
export async function readProcesses(): Promise<readonly RecordedProcess[]> {
  if (!existsSync(MACHINE.processes)) return [];
  const files = (await readdir(MACHINE.processes)).filter((file) => file.endsWith('.json'));
  return await Promise.all(
    files
      .sort()
      .map(async (file) =>
        processSchema.parse(JSON.parse(await readFile(join(MACHINE.processes, file), 'utf8'))),
      ),
  );
}

export interface EnsuredProcess extends ProcessIdentity {
  /** False when it ran already. */
  readonly started: boolean;
  readonly log: string;
}

/**
 * Starts the process unless the one that was recorded under its name still runs.
 *
 * @param prepare writes what the process reads at its start; not called when it runs, because some end when their
 * configuration is written anew
 */
export async function ensureProcess(
  name: string,
  prepare: () => ProcessPlan | Promise<ProcessPlan>,
): Promise<EnsuredProcess> {
  const recorded = (await readProcesses()).find((other) => other.name === name);
  if (recorded !== undefined && isAlive(recorded)) return { ...recorded, started: false };
  const plan = await prepare();
  const identity = startProcess(plan);
  // No fsync: after a power cut no process is there to be found.
  await writeFile(
    join(MACHINE.processes, `${name}.json`),
    JSON.stringify({ name, ...identity, log: plan.log }),
  );
  return { ...identity, started: true, log: plan.log };
}

/** What ended although it should run, for an error message; undefined: all run. */
export async function endedProcess(): Promise<RecordedProcess | undefined> {
  return (await readProcesses()).find((recorded) => !isAlive(recorded));
}

export async function forgetProcess(name: string): Promise<void> {
  await rm(join(MACHINE.processes, `${name}.json`), { force: true });
}
