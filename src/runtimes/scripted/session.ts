import { constants, type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { PROVIDER_ERROR_KINDS, type Observation } from '../../api/attempt.ts';
import { errnoOf } from '../../api/errors.ts';
import type { TraceEvent } from '../../api/trace.ts';
import type { SessionReading, ToolMap } from '../adapter.ts';
import { PLACEHOLDER } from './plan.ts';

/** The agent's tools in the words of the project. */
export const TOOL_MAP: ToolMap = {
  version: '1',
  tools: {
    write_file: { tool: 'write', surface: null },
    read_file: { tool: 'read', surface: null },
    edit_file: { tool: 'edit', surface: null },
    bash: { tool: 'exec', surface: null },
  },
};

/** Bounds of what is believed of a session: an agent owns the file and may have written anything into it. */
export const SESSION_BOUNDS = {
  bytes: 64 * 1024 * 1024,
  lineBytes: 8 * 1024 * 1024,
  lines: 100_000,
  depth: 32,
};

const base = { turn: z.int().positive().max(10_000), time: z.iso.datetime().optional().catch(undefined) };
const recordSchema = z.discriminatedUnion('type', [
  z.object({ ...base, type: z.literal('session'), sessionId: z.string().max(256) }),
  z.object({ ...base, type: z.literal('user'), text: z.string() }),
  z.object({ ...base, type: z.literal('assistant'), text: z.string() }),
  z.object({
    ...base,
    type: z.literal('tool_call'),
    id: z.string().max(256),
    name: z.string().min(1).max(256),
    arguments: z.unknown(),
  }),
  z.object({
    ...base,
    type: z.literal('tool_result'),
    id: z.string().max(256),
    name: z.string().min(1).max(256),
    status: z.enum(['ok', 'error']),
    result: z.unknown(),
  }),
  z.object({
    ...base,
    type: z.literal('provider_error'),
    error: z.enum(PROVIDER_ERROR_KINDS),
    status: z.int().nullable(),
    final: z.boolean(),
    message: z.string(),
  }),
  z.object({ ...base, type: z.literal('stop'), stopReason: z.string().max(64) }),
]);
type NativeRecord = z.infer<typeof recordSchema>;

/**
 * Reads a session that the scripted agent left. Nothing in it is trusted: a link, a device or a file with a
 * second name is not read at all, a line that is no record of ours is passed over, and bounds hold throughout. So
 * nothing an agent writes can make reading fail.
 */
export async function readScriptedSession(path: string): Promise<SessionReading> {
  const bytes = await readUntrustedFile(path, SESSION_BOUNDS.bytes);
  if (bytes === undefined) return readingOf([], []);
  return readingOf(parseRecords(bytes), [path]);
}

/** The records of a session file in order; lines that are cut off, too long or not ours are passed over. */
export function parseRecords(bytes: Buffer): readonly NativeRecord[] {
  const records: NativeRecord[] = [];
  let start = 0;
  for (let line = 0; line < SESSION_BOUNDS.lines; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    // What comes after the last line break was being written when the agent died.
    if (end === -1) break;
    if (end - start <= SESSION_BOUNDS.lineBytes) {
      const record = parseRecord(bytes.toString('utf8', start, end));
      if (record !== undefined) records.push(record);
    }
    start = end + 1;
  }
  return records;
}

function parseRecord(line: string): NativeRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isWithinDepth(value, SESSION_BOUNDS.depth)) return undefined;
  return recordSchema.safeParse(value).data;
}

/** What the records of a session mean in the words of the project. */
export function readingOf(records: readonly NativeRecord[], nativeFiles: readonly string[]): SessionReading {
  const events: TraceEvent[] = [];
  let sessionId: string | null = null;
  let lastTurn = 0;
  let stopReason: string | null = null;
  let toolCalls = 0;
  let assistantTurns = 0;
  let answered = false;
  const errors: { turn: number; observation: Extract<Observation, { kind: 'provider_error' }> }[] = [];
  for (const record of records) {
    if (record.turn > lastTurn) {
      lastTurn = record.turn;
      // The stop of an earlier turn says nothing about this one.
      stopReason = null;
    }
    const place = {
      seq: events.length + 1,
      turn: record.turn,
      ...(record.time === undefined ? {} : { time: record.time }),
    };
    switch (record.type) {
      case 'session':
        sessionId ??= record.sessionId;
        break;
      case 'user':
        events.push({ ...place, type: 'user_message', text: record.text });
        break;
      case 'assistant':
        assistantTurns += 1;
        if (record.text.trim() !== '' && record.text !== PLACEHOLDER) answered = true;
        events.push({ ...place, type: 'assistant_message', text: record.text });
        break;
      case 'tool_call': {
        assistantTurns += 1;
        toolCalls += 1;
        const { unmapped, ...tool } = normalizedTool(record.name);
        events.push({
          ...place,
          type: 'tool_call',
          ...tool,
          args: record.arguments,
          call_id: record.id,
          ...(unmapped ? { unmapped } : {}),
        });
        break;
      }
      case 'tool_result': {
        const { tool, nativeName } = normalizedTool(record.name);
        events.push({
          ...place,
          type: 'tool_result',
          tool,
          result: record.result,
          status: record.status,
          call_id: record.id,
          nativeName,
        });
        break;
      }
      case 'provider_error': {
        const { error, status, final, message } = record;
        errors.push({
          turn: record.turn,
          observation: { kind: 'provider_error', error, status, final, message: message.slice(0, 1000) },
        });
        break;
      }
      case 'stop':
        stopReason = record.stopReason;
        break;
    }
  }
  return {
    sessionId,
    events,
    stopReason,
    // An error that a later answer made good did not end the session.
    observations: errors.map(({ turn, observation }) => ({
      ...observation,
      final: observation.final && turn === lastTurn && stopReason !== 'stop',
    })),
    usage: {
      schema_version: 1,
      assistantTurns,
      toolCalls,
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      totalTokens: null,
      costUsd: 0,
      source: 'none',
    },
    placeholder: !answered,
    nativeFiles,
    auditState: {},
  };
}

function normalizedTool(nativeName: string): {
  tool: string;
  nativeName: string;
  surface: string | null;
  unmapped: boolean;
} {
  const mapped = Object.hasOwn(TOOL_MAP.tools, nativeName) ? TOOL_MAP.tools[nativeName] : undefined;
  return mapped === undefined
    ? { tool: nativeName, nativeName, surface: null, unmapped: true }
    : { ...mapped, nativeName, unmapped: false };
}

/** Whether a JSON value nests at most `depth` levels: deeper ones break whoever writes them down again. */
function isWithinDepth(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let nested = 0; level.length > 0; nested += 1) {
    if (nested > depth) return false;
    level = level.flatMap((item): unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
  }
  return true;
}

/**
 * The first `limit` bytes of a regular file that an agent may have replaced by anything.
 *
 * @returns undefined when it does not exist or is something else than a regular file with one name
 */
async function readUntrustedFile(path: string, limit: number): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    if (!(await lstat(dirname(path))).isDirectory()) return undefined;
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== undefined && UNREADABLE.has(code)) return undefined;
    throw error;
  }
  try {
    const stat = await file.stat();
    // A second name may belong to a file outside the agent's reach.
    if (!stat.isFile() || stat.nlink !== 1) return undefined;
    const bytes = Buffer.alloc(Math.min(stat.size, limit));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** ELOOP: a link. ENXIO: a socket or a device without a driver. EACCES: the agent took the right away. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'ENODEV']);
