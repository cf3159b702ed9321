{{- define "forebay.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains "forebay" $name) }}{{ $name = printf "%s-forebay" $name }}{{ end -}}
{{- trunc 40 $name | trimSuffix "-" -}}
{{- end }}

{{- define "forebay.labels" -}}
{{ include "forebay.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- /* What pods are selected by: never changes. `group` is the name of a group of workers or runners. */ -}}
{{- define "forebay.selector" -}}
app.kubernetes.io/name: forebay
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .group }}
forebay/group: {{ . }}
{{- end }}
{{- end }}

{{- /* A variable from a key of a Secret. */ -}}
{{- define "forebay.secretVariable" -}}
- name: {{ .variable }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key | default .variable }}}}
{{- end }}

{{- /* The addresses of the database: of the owner, or of the accounts in `accounts`. */ -}}
{{- define "forebay.database" -}}
{{- $secret := .root.Values.database.secret -}}
{{- if .root.Values.database.accounts }}
{{- range .accounts }}
{{ include "forebay.secretVariable" (dict "variable" (printf "FOREBAY_%s_DATABASE_URL" .) "secret" $secret) }}
{{- end }}
{{- else }}
{{ include "forebay.secretVariable" (dict "variable" "FOREBAY_DATABASE_URL" "secret" $secret "key" .root.Values.database.ownerKey) }}
{{- end }}
{{- end }}

{{- /* Settings of all processes, and those of a group, as variables. */ -}}
{{- define "forebay.settings" -}}
{{- range $name, $value := merge (dict) (.more | default dict) .root.Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{- /* A pod: `args`, `env`, `group` with resources and placement, `grace`; `probes`, `ports`, `secret` for envFrom. */ -}}
{{- define "forebay.pod" -}}
{{- $values := .root.Values -}}
{{- $place := .place | default dict -}}
metadata:
  labels: {{- include "forebay.labels" . | nindent 4 }}
  {{- with $values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $values.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  restartPolicy: {{ .restart | default "Always" }}
  terminationGracePeriodSeconds: {{ .grace }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: {{ $place.seccompProfile | default "RuntimeDefault" }}}
  {{- with $place.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $place.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $place.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if ne (.restart | default "Always") "Never" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "forebay.selector" . | nindent 10 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: "{{ $values.image.repository }}:{{ $values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ toJson .args }}
      env: {{- .env | trim | nindent 8 }}
      {{- with .secret }}
      envFrom:
        - secretRef: {name: {{ . }}}
      {{- end }}
      {{- with .ports }}
      ports: {{- . | trim | nindent 8 }}
      {{- end }}
      {{- with .probes }}
      {{- . | trim | nindent 6 }}
      {{- end }}
      {{- with $place.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: data, mountPath: /data}
        {{- if .broker }}
        - {name: broker-ca, mountPath: /etc/forebay/broker, readOnly: true}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: data
      {{- if and $values.data.existingClaim (ne .component "runner") }}
      persistentVolumeClaim: {claimName: {{ $values.data.existingClaim }}}
      {{- else }}
      emptyDir: {sizeLimit: {{ $values.data.sizeLimit }}}
      {{- end }}
    {{- if .broker }}
    - name: broker-ca
      secret: {secretName: {{ .broker }}}
    {{- end }}
{{- end }}

{{- /* Scales a group by the demand of its queues. `target` is the name of its Deployment. */ -}}
{{- define "forebay.scaledObject" -}}
{{- $keda := .group.keda -}}
{{- $api := printf "http://%s-api.%s.svc:8080" (include "forebay.name" .root) .root.Release.Namespace -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .target }}
  labels: {{- include "forebay.labels" (dict "root" .root "component" .component "group" .group.name) | nindent 4 }}
spec:
  scaleTargetRef: {name: {{ .target }}}
  minReplicaCount: {{ $keda.min }}
  maxReplicaCount: {{ $keda.max }}
  pollingInterval: {{ $keda.pollingSeconds | default 15 }}
  cooldownPeriod: {{ $keda.cooldownSeconds | default 300 }}
  # While the API does not answer, as many as before would be best; KEDA knows only a number.
  fallback: {failureThreshold: 4, replicas: {{ max 1 (int $keda.min) }}}
  triggers:
    - type: metrics-api
      metricType: AverageValue
      metadata:
        url: {{ printf "%s/api/queues/%s/demand?targetS=%v&taskS=%v" $api (join "," .group.queues)
          ($keda.targetSeconds | default 60) ($keda.taskSeconds | default 1) | quote }}
        valueLocation: slots
        targetValue: {{ $keda.slotsPerPod | toString | quote }}
        authMode: bearer
      authenticationRef: {name: {{ include "forebay.name" .root }}-demand}
{{- end }}
