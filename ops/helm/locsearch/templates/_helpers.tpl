{{/* Name of the release's objects: "locsearch" where the release has that name, else RELEASE-locsearch. */}}
{{- define "locsearch.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Takes a list: the root context and the component (worker, console or topics). */}}
{{- define "locsearch.name" -}}
{{- printf "%s-%s" (include "locsearch.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{- define "locsearch.selector" -}}
app.kubernetes.io/name: {{ include "locsearch.name" . }}
{{- end -}}

{{- define "locsearch.labels" -}}
{{ include "locsearch.selector" . }}
app.kubernetes.io/part-of: location-search
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end -}}

{{/* A digest names one image for ever, so it comes before the tag. */}}
{{- define "locsearch.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "locsearch.settings" -}}
# Settings of all programs of this release, from the value `settings`.
{{ toYaml .Values.settings }}
{{- end -}}

{{/* What the three pods have in common. */}}
{{- define "locsearch.pod" -}}
# Worker and cluster have nothing to say to each other.
automountServiceAccountToken: false
enableServiceLinks: false
{{- if eq .Values.hostUsers false }}
hostUsers: false
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # The files of Secrets are readable for this group and nobody else.
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "locsearch.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Takes a list: the root context, the ConfigMap, and the Secret with the brokers' login. */}}
{{- define "locsearch.commonVolumes" -}}
- name: settings
  configMap:
    name: {{ index . 1 }}
{{- with index . 2 }}
- name: kafka
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with (index . 0).Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "locsearch.commonMounts" -}}
- name: settings
  mountPath: /etc/locsearch
  readOnly: true
{{- with index . 1 }}
- name: kafka
  mountPath: /run/kafka
  readOnly: true
{{- end }}
{{- with (index . 0).Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Egress that every program needs: DNS and the brokers. */}}
{{- define "locsearch.commonEgress" -}}
- to:
    - namespaceSelector: {}
      podSelector:
        matchLabels:
          k8s-app: kube-dns
  ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
- ports:
    {{- range .Values.networkPolicy.brokerPorts }}
    - port: {{ . }}
    {{- end }}
{{- end -}}

{{/* The internet without the cluster's own networks and the clouds' metadata service. */}}
{{- define "locsearch.internetEgress" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 169.254.0.0/16]
  ports:
    - port: 443
{{- end -}}

{{/* The Secret with the login of the console and of the topics Job, who need more rights than a worker. */}}
{{- define "locsearch.operatorLogin" -}}
{{- .Values.secrets.kafkaOperator | default .Values.secrets.kafka -}}
{{- end -}}
