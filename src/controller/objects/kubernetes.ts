import type * as client from '@kubernetes/client-node';

/**
 * An object as it stands in JSON: the client's classes describe it, but their instances are not what is sent. Times
 * are strings, and a field that would be a word of TypeScript has its own name (`from`, not `_from`).
 */
type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Json<T[Key]> }
      : T;

export type Affinity = Json<client.V1Affinity>;
export type ConfigMap = Json<client.V1ConfigMap>;
export type Container = Json<client.V1Container>;
export type Deployment = Json<client.V1Deployment>;
export type EnvVar = Json<client.V1EnvVar>;
export type Job = Json<client.V1Job>;
export type LabelSelector = Json<client.V1LabelSelector>;
export type NetworkPolicy = Json<client.V1NetworkPolicy>;
export type NetworkPolicyEgressRule = Json<client.V1NetworkPolicyEgressRule>;
export type NetworkPolicyIngressRule = Json<client.V1NetworkPolicyIngressRule>;
export type NetworkPolicyPort = Json<client.V1NetworkPolicyPort>;
export type OwnerReference = Json<client.V1OwnerReference>;
export type PersistentVolumeClaim = Json<client.V1PersistentVolumeClaim>;
export type Pod = Json<client.V1Pod>;
export type PodSecurityContext = Json<client.V1PodSecurityContext>;
export type PodSpec = Json<client.V1PodSpec>;
export type ResourceRequirements = Json<client.V1ResourceRequirements>;
export type RoleBinding = Json<client.V1RoleBinding>;
export type Secret = Json<client.V1Secret>;
export type SecurityContext = Json<client.V1SecurityContext>;
export type Service = Json<client.V1Service>;
export type ServiceAccount = Json<client.V1ServiceAccount>;
export type Toleration = Json<client.V1Toleration>;
export type Volume = Json<client.V1Volume>;
export type VolumeMount = Json<client.V1VolumeMount>;
