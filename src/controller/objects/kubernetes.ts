import type * as client from '@kubernetes/client-node';
import type * as kube from '../../kube/object.ts';

/*
 * The kinds of objects that are made here, as they stand in JSON before the API server has seen them, and the parts
 * of them that have names of their own.
 */

export type ConfigMapDraft = kube.Draft<kube.ConfigMap>;
export type DeploymentDraft = kube.Draft<kube.Deployment>;
export type JobDraft = kube.Draft<kube.Job>;
export type NetworkPolicyDraft = kube.Draft<kube.NetworkPolicy>;
export type PersistentVolumeClaimDraft = kube.Draft<kube.PersistentVolumeClaim>;
export type PodDraft = kube.Draft<kube.Pod>;
export type RoleBindingDraft = kube.Draft<kube.RoleBinding>;
export type SecretDraft = kube.Draft<kube.Secret>;
export type ServiceDraft = kube.Draft<kube.Service>;
export type ServiceAccountDraft = kube.Draft<kube.ServiceAccount>;

export type Affinity = kube.Wire<client.V1Affinity>;
export type Container = kube.Container;
export type EnvVar = kube.Wire<client.V1EnvVar>;
export type LabelSelector = kube.Wire<client.V1LabelSelector>;
export type NetworkPolicyEgressRule = kube.Wire<client.V1NetworkPolicyEgressRule>;
export type NetworkPolicyIngressRule = kube.Wire<client.V1NetworkPolicyIngressRule>;
export type NetworkPolicyPort = kube.Wire<client.V1NetworkPolicyPort>;
export type OwnerReference = kube.OwnerReference;
export type PodSecurityContext = kube.Wire<client.V1PodSecurityContext>;
export type PodSpec = kube.PodSpec;
export type ResourceRequirements = kube.Wire<client.V1ResourceRequirements>;
export type SecurityContext = kube.Wire<client.V1SecurityContext>;
export type Toleration = kube.Wire<client.V1Toleration>;
export type Volume = kube.Volume;
export type VolumeMount = kube.VolumeMount;
