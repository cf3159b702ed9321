{{- /* The variables of each kind of process. */ -}}

{{- define "forebay.api.env" }}
- {name: FOREBAY_API_HOST, value: 0.0.0.0}
- {name: FOREBAY_API_PORT, value: "8080"}
{{- include "forebay.settings" . }}
{{- include "forebay.database" (merge (dict "accounts" (list "API" "IDENTITY" "ADMIN" "WORKER")) .) }}
{{- end }}

{{- define "forebay.api.probes" }}
startupProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 5
  timeoutSeconds: 5
# Requests still come for a moment after the pod has been told to stop.
lifecycle:
  preStop: {exec: {command: [sleep, "5"]}}
{{- end }}

{{- define "forebay.worker.env" }}
- {name: FOREBAY_GRACE_S, value: {{ .root.Values.graceSeconds | quote }}}
- {name: FOREBAY_PROCESSES, value: {{ .worker.processes | default 1 | quote }}}
- {name: FOREBAY_QUEUES, value: {{ join "," .worker.queues | quote }}}
{{- include "forebay.settings" (dict "root" .root "more" .worker.settings) }}
{{- include "forebay.database" (dict "root" .root "accounts" (list "WORKER")) }}
{{- end }}

{{- define "forebay.broker.env" }}
- {name: FOREBAY_GRACE_S, value: {{ .root.Values.graceSeconds | quote }}}
{{ include "forebay.secretVariable" (dict "variable" "FOREBAY_BROKER_URL" "secret" .root.Values.broker.secret "key" .component) }}
{{- if .root.Values.broker.caSecret }}
- {name: SSL_CERT_FILE, value: /etc/forebay/broker/ca.crt}
{{- end }}
{{- include "forebay.settings" . }}
{{- end }}

{{- define "forebay.dispatcher.env" }}
{{- include "forebay.broker.env" . }}
{{- include "forebay.database" (merge (dict "accounts" (list "WORKER")) .) }}
{{- end }}

{{- define "forebay.runner.env" }}
- {name: FOREBAY_QUEUES, value: {{ join "," .runner.queues | quote }}}
{{- include "forebay.broker.env" (dict "root" .root "component" "runner" "more" .runner.settings) }}
{{- end }}
