{{/* The name of all objects: the release's. The headless service adds 8 characters, a pod its number. */}}
{{- define "locus.name" -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{/* What selects the pods. It must stay the same through upgrades. */}}
{{- define "locus.selector" -}}
app.kubernetes.io/name: locus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "locus.labels" -}}
{{ include "locus.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* The port of an address such as 0.0.0.0:4306. */}}
{{- define "locus.port" -}}
{{- regexReplaceAll "^.*:" . "" -}}
{{- end -}}

{{/* How probes reach the HTTP port. */}}
{{- define "locus.scheme" -}}
{{- if get (get .Values.config.http "tls" | default dict) "cert" }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}
