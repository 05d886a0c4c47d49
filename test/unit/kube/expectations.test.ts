import { describe, expect, it } from 'vitest';
import { Expectations } from '../../../src/kube/expectations.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Change } from '../../../src/kube/reflector.ts';
import { Store } from '../../../src/kube/store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const pod = (uid: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: `p-${uid}`, uid, resourceVersion: '1', creationTimestamp: 'T' },
});

function make() {
  const clock = new FakeClock();
  const store = new Store<KubeObject>({});
  const expectations = new Expectations<KubeObject>(store, clock, 60_000);
  /** What a reflector does with an event. */
  const see = (type: 'add' | 'delete' | 'update', uid: string) => {
    const object = pod(uid);
    if (type === 'delete') store.remove(`n/p-${uid}`);
    else store.put(object);
    const change = { type, key: `n/p-${uid}`, object, old: object } as Change<KubeObject>;
    expectations.observe(change);
  };
  return { clock, expectations, see };
}

describe('expectations', () => {
  it('wait until the cache shows every child that was created', () => {
    const { expectations, see } = make();
    expectations.expectCreated('run', 'u1');
    expectations.expectCreated('run', 'u2');
    see('add', 'u1');
    see('add', 'other');
    expect(expectations.state('run')).toBe('waiting');
    see('add', 'u2');
    expect(expectations.state('run')).toBe('satisfied');
    expect(expectations.state('another')).toBe('satisfied');
  });

  it('are satisfied by a watch that was faster than the answer, even if the child is gone again', () => {
    const { expectations, see } = make();
    see('add', 'u1');
    expectations.expectCreated('run', 'u1');
    see('add', 'u2');
    see('delete', 'u2');
    expectations.expectCreated('run', 'u2');
    expect(expectations.state('run')).toBe('satisfied');
  });

  it('wait for a deletion, not for the update that announces it', () => {
    const { expectations, see } = make();
    see('add', 'u1');
    expectations.expectDeleted('run', 'u1');
    see('update', 'u1');
    expect(expectations.state('run')).toBe('waiting');
    see('delete', 'u1');
    expect(expectations.state('run')).toBe('satisfied');
  });

  it('do not wait for the deletion of what the cache does not hold', () => {
    const { expectations } = make();
    expectations.expectCreated('run', 'u1');
    expectations.expectDeleted('run', 'u1');
    expect(expectations.state('run')).toBe('satisfied');
  });

  it('expire, so that a cache that misses an event holds nobody up for ever', async () => {
    const { clock, expectations } = make();
    expectations.expectCreated('run', 'u1');
    await clock.advance(59_999);
    expect(expectations.state('run')).toBe('waiting');
    await clock.advance(1);
    expect(expectations.state('run')).toBe('expired');
    expectations.forget('run');
    expect(expectations.state('run')).toBe('satisfied');
  });
});
