import type * as k8s from '@kubernetes/client-node';

/**
 * Objects as they are on the wire: raw JSON, times as strings, unknown fields kept. The library's classes are
 * used as types only, because its own parsing makes dates of times and drops fields it does not know. Fields that
 * have an underscore there (`_from`), because they are words of the language, have none on the wire.
 */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Wire<T[Key]> }
      : T;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

interface SharedMeta {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** Metadata of an object that the server holds. `managedFields` is dropped by the reflector. */
export interface ObjectMeta extends SharedMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly generateName?: string;
}

/** Metadata of an object that is about to be created or applied. */
export interface DraftMeta extends SharedMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Any object of the server. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A resource of our own group, or any other whose fields are given by hand. */
export interface CustomObject<Spec = unknown, Status = unknown> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

/** An object to create: what the server fills in is absent; apiVersion and kind come from the descriptor. */
export type Draft<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly metadata: DraftMeta;
  readonly apiVersion?: string;
  readonly kind?: string;
};

type Known<T> = Omit<Wire<T>, 'apiVersion' | 'kind' | 'metadata'> & KubeObject;

export type Pod = Known<k8s.V1Pod>;
export type Job = Known<k8s.V1Job>;
export type ConfigMap = Known<k8s.V1ConfigMap>;
export type Secret = Known<k8s.V1Secret>;
export type ServiceAccount = Known<k8s.V1ServiceAccount>;
export type Service = Known<k8s.V1Service>;
export type Deployment = Known<k8s.V1Deployment>;
export type NetworkPolicy = Known<k8s.V1NetworkPolicy>;
export type PersistentVolumeClaim = Known<k8s.V1PersistentVolumeClaim>;
export type PersistentVolume = Known<k8s.V1PersistentVolume>;
export type StorageClass = Known<k8s.V1StorageClass>;
export type Role = Known<k8s.V1Role>;
export type RoleBinding = Known<k8s.V1RoleBinding>;
export type Lease = Known<k8s.V1Lease>;
export type Event = Known<k8s.EventsV1Event>;
export type Node = Known<k8s.V1Node>;
export type Namespace = Known<k8s.V1Namespace>;
export type EndpointSlice = Known<k8s.V1EndpointSlice>;
export type CustomResourceDefinition = Known<k8s.V1CustomResourceDefinition>;
export type PodSpec = Wire<k8s.V1PodSpec>;
export type PodTemplateSpec = Wire<k8s.V1PodTemplateSpec>;
export type Container = Wire<k8s.V1Container>;
export type ContainerStatus = Wire<k8s.V1ContainerStatus>;
export type Volume = Wire<k8s.V1Volume>;
export type VolumeMount = Wire<k8s.V1VolumeMount>;

/** Which object of a resource; `namespace` for namespaced resources only. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** `namespace/name`, or the name alone: the key of stores and queues. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The parts of a key made by `keyOf`. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The one owner that controls an object, or undefined. */
export function controllerOf(object: { readonly metadata: SharedMeta }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** The reference that makes `owner` the controller of a child, deleted with it. */
export function ownerReferenceTo(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export const isTerminating = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;
