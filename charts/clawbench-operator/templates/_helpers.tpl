{{/* Name of the objects of this release. */}}
{{- define "clawbench.fullname" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}{{- $name = printf "%s-%s" $name .Chart.Name -}}{{- end -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of objects that belong to no namespace: another release may live in another one. */}}
{{- define "clawbench.clusterName" -}}
{{- printf "%s.%s" .Release.Namespace (include "clawbench.fullname" .) -}}
{{- end -}}

{{- define "clawbench.labels" -}}
{{ include "clawbench.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{- end -}}

{{- define "clawbench.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "clawbench.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Yes where the controller may do its work in every namespace. */}}
{{- define "clawbench.clusterWide" -}}
{{- if not .Values.watchNamespaces -}}yes{{- end -}}
{{- end -}}

{{/* The controller's configuration: values under the same names, and what follows from others. */}}
{{- define "clawbench.config" -}}
{{- $config := dict -}}
{{- range $name := splitList "\n" (.Files.Get "files/config-values.txt" | trim) -}}
{{- if hasKey $.Values $name -}}{{- $_ := set $config $name (index $.Values $name) -}}{{- end -}}
{{- end -}}
{{- $_ := set $config "operatorImage" (include "clawbench.image" .) -}}
{{- $_ := set $config "defaultImagePullPolicy" .Values.image.pullPolicy -}}
{{- $_ := set $config "workerRoleKind" (ternary "ClusterRole" "Role" (eq (include "clawbench.clusterWide" .) "yes")) -}}
{{- toPrettyJson $config -}}
{{- end -}}

{{/* What an installation may not ask for, each with what to do instead. */}}
{{- define "clawbench.check" -}}
{{- if and (not .Values.clusterResources.create) (not .Values.watchNamespaces) -}}
{{- fail "watchNamespaces is needed where clusterResources.create is false: without ClusterRoles the controller can only be given namespaces" -}}
{{- end -}}
{{- with .Values.leaderElection -}}
{{- if not (and (lt (float64 .retrySeconds) (float64 .renewSeconds)) (lt (float64 .renewSeconds) (float64 .leaseSeconds))) -}}
{{- fail "leaderElection: retrySeconds must be below renewSeconds, and renewSeconds below leaseSeconds" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "clawbench.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "clawbench.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "clawbench.imagePullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What the controller does in the namespaces of runs. */}}
{{- define "clawbench.controllerRules" -}}
- apiGroups: [clawbench.dev]
  resources: [benchmarkruns]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [clawbench.dev]
  resources: [trials]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [clawbench.dev]
  resources: [benchmarkruns/status, trials/status]
  verbs: [get, patch]
# Children that block the deletion of their owner need this where owner references are enforced.
- apiGroups: [clawbench.dev]
  resources: [benchmarkruns/finalizers, trials/finalizers]
  verbs: [update]
- apiGroups: ['']
  resources: [pods, configmaps, services]
  verbs: [get, list, watch, create, delete]
- apiGroups: ['']
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, create, patch, delete]
# Names only: whether a key is there, and the gateway's own. Never a list of all.
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, create, delete]
- apiGroups: ['']
  resources: [serviceaccounts]
  verbs: [get, create]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, delete]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [rolebindings]
  verbs: [get, create]
# It binds this one role and can make no other right.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [{{ ternary "clusterroles" "roles" (eq (include "clawbench.clusterWide" .) "yes") }}]
  resourceNames: [clawbench-worker]
  verbs: [bind]
- apiGroups: [events.k8s.io, '']
  resources: [events]
  verbs: [get, list, create, patch]
{{- end -}}

{{/* What `prepare` and `score` pods do; admission policies narrow their status patches to scores. */}}
{{- define "clawbench.workerRules" -}}
- apiGroups: [clawbench.dev]
  resources: [benchmarkruns]
  verbs: [get]
- apiGroups: [clawbench.dev]
  resources: [trials]
  verbs: [get, list]
- apiGroups: [clawbench.dev]
  resources: [benchmarkruns/status, trials/status]
  verbs: [get, patch]
# The suite's index. A right to create cannot be bound to names.
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get, create]
{{- end -}}
