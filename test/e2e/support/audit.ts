import { readFile } from 'node:fs/promises';

/** A write as the API server's audit log has it. */
export interface Write {
  readonly user: string;
  readonly verb: string;
  /** e.g. `trials/status`. */
  readonly resource: string;
  readonly name: string;
  readonly code: number;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: { readonly metadata?: { readonly name?: string } };
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Every write to objects of a namespace, oldest first. */
export async function writesIn(auditLog: string, namespace: string): Promise<Write[]> {
  const writes: Write[] = [];
  for (const line of (await readFile(auditLog, 'utf8')).split('\n')) {
    // A cheap look first: the log has every request of the cluster.
    if (!line.includes(namespace)) continue;
    const event = JSON.parse(line) as AuditEvent;
    const { objectRef } = event;
    if (event.stage !== 'ResponseComplete' || objectRef?.namespace !== namespace || !WRITES.has(event.verb))
      continue;
    writes.push({
      user: event.user.username,
      verb: event.verb,
      resource:
        objectRef.subresource === undefined
          ? objectRef.resource
          : `${objectRef.resource}/${objectRef.subresource}`,
      name: objectRef.name ?? event.requestObject?.metadata?.name ?? '',
      code: event.responseStatus?.code ?? 0,
    });
  }
  return writes;
}
