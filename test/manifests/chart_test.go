package manifests

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"locus/config"
)

const chartDirectory = "../../deploy/helm/locus"

// released are the values with which the chart is the manifest of deploy/kubernetes.
const released = `image: {repository: registry.example/locus, tag: 1.0.0}`

// render renders the chart as `helm install locus` does, with the values of a file. It returns the texts by the names of their templates.
func render(values string) (map[string]string, error) {
	chart, err := loader.Load(chartDirectory)
	if err != nil {
		return nil, err
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: "locus", Namespace: "data", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

// rendered returns the objects of the chart as one text.
func rendered(t *testing.T, values string) []byte {
	t.Helper()
	texts, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if text := strings.TrimSpace(texts[name]); text != "" && strings.HasSuffix(name, ".yaml") {
			all = append(all, []byte(text))
		}
	}
	if len(all) == 0 {
		t.Fatal("the chart renders nothing")
	}
	return bytes.Join(all, []byte("\n---\n"))
}

// With its defaults, the chart deploys what the manifest deploys.
func TestTheChartIsTheManifest(t *testing.T) {
	chart, plain := decode(t, rendered(t, released)), decode(t, file(t, "../../deploy/kubernetes/locus.yaml"))
	configurations := [2]*config.Config{}
	for i, m := range []*manifest{&chart, &plain} {
		c, err := config.Parse([]byte(m.configuration.Data["locus.yaml"]))
		if err != nil {
			t.Fatal(err)
		}
		configurations[i], m.configuration.Data = c, nil
		unlabel(m)
	}
	if !reflect.DeepEqual(configurations[0], configurations[1]) {
		t.Errorf("the chart's configuration is\n%+v\nand the manifest's\n%+v", configurations[0], configurations[1])
	}
	for _, objects := range [][2]any{
		{chart.configuration, plain.configuration}, {chart.services, plain.services}, {chart.budget, plain.budget}, {chart.set, plain.set},
	} {
		if !reflect.DeepEqual(objects[0], objects[1]) {
			t.Errorf("the chart has\n%s\nand the manifest\n%s", text(t, objects[0]), text(t, objects[1]))
		}
	}
}

// unlabel removes what Helm's conventions add: labels, and a checksum that replaces the pods. The order of a Secret's keys has no meaning.
func unlabel(m *manifest) {
	delete(m.set.Spec.Template.Annotations, "locus/configuration")
	if len(m.set.Spec.Template.Annotations) == 0 {
		m.set.Spec.Template.Annotations = nil
	}
	m.set.Spec.Template.Spec.Containers[0].ImagePullPolicy = ""
	m.set.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector = nil
	m.set.Spec.Selector, m.budget.Spec.Selector, m.set.Spec.Template.Labels = nil, nil, nil
	objects := []*meta.ObjectMeta{&m.configuration.ObjectMeta, &m.budget.ObjectMeta, &m.set.ObjectMeta}
	for i := range m.services {
		m.services[i].Spec.Selector = nil
		objects = append(objects, &m.services[i].ObjectMeta)
	}
	items := m.set.Spec.Template.Spec.Volumes[1].Secret.Items
	slices.SortFunc(items, func(a, b core.KeyToPath) int { return strings.Compare(a.Key, b.Key) })
	for _, object := range objects {
		object.Labels = nil
	}
}

func text(t *testing.T, object any) []byte {
	t.Helper()
	b, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// All values at once, each with another content than its default, are in the objects.
func TestEveryValueOfTheChartHasAnEffect(t *testing.T) {
	values := `
image: {repository: registry.example/locus, tag: v9.9.9, pullPolicy: Always}
imagePullSecrets: [{name: registry}]
replicas: 5
config: {cluster: other, http: {listen: "0.0.0.0:9306", tls: null}, proxy: {listen: "0.0.0.0:5306"}}
secrets: {name: passwords, items: {keys: null, shards-s2: shards/s2}}
tls: {name: certificates}
service: {type: LoadBalancer, port: 3307, annotations: {example/scope: internal}}
persistence: {size: 2Gi, storageClass: fast}
terminationGracePeriodSeconds: 90
goMemoryLimit: 900MiB
resources: {requests: {cpu: "2"}, limits: {memory: 1Gi}}
maxUnavailable: 2
podAnnotations: {example/noted: "yes"}
podLabels: {team: data}
nodeSelector: {disk: ssd}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}}
priorityClassName: high
`
	m := decode(t, rendered(t, values))
	checkReferences(t, m)
	checkVolumes(t, m)
	checkLimits(t, m)
	pod := m.set.Spec.Template.Spec
	container := pod.Containers[0]
	for what, holds := range map[string]bool{
		"image":           container.Image == "registry.example/locus:v9.9.9" && container.ImagePullPolicy == core.PullAlways,
		"pull secrets":    len(pod.ImagePullSecrets) == 1 && pod.ImagePullSecrets[0].Name == "registry",
		"replicas":        *m.set.Spec.Replicas == 5,
		"ports":           container.Ports[0].ContainerPort == 5306 && container.Ports[1].ContainerPort == 9306 && m.services[1].Spec.Ports[0].Port == 9306,
		"scheme":          container.LivenessProbe.HTTPGet.Scheme == core.URISchemeHTTP && container.ReadinessProbe.HTTPGet.Scheme == core.URISchemeHTTP,
		"secrets":         pod.Volumes[1].Secret.SecretName == "passwords" && hasItem(pod.Volumes[1].Secret.Items, "shards/s2") && !hasItem(pod.Volumes[1].Secret.Items, "keys.yaml"),
		"certificates":    pod.Volumes[2].Secret.SecretName == "certificates",
		"service":         m.services[0].Spec.Type == core.ServiceTypeLoadBalancer && m.services[0].Spec.Ports[0].Port == 3307 && m.services[0].Annotations["example/scope"] == "internal",
		"persistence":     *m.set.Spec.VolumeClaimTemplates[0].Spec.StorageClassName == "fast" && m.set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String() == "2Gi",
		"grace period":    *pod.TerminationGracePeriodSeconds == 90,
		"memory":          container.Env[0].Value == "900MiB" && container.Resources.Limits.Memory().String() == "1Gi" && container.Resources.Requests.Cpu().String() == "2",
		"max unavailable": m.budget.Spec.MaxUnavailable.IntValue() == 2,
		"annotations":     m.set.Spec.Template.Annotations["example/noted"] == "yes",
		"labels":          m.set.Spec.Template.Labels["team"] == "data" && m.set.Spec.Selector.MatchLabels["team"] == "",
		"node selector":   pod.NodeSelector["disk"] == "ssd" && len(pod.Tolerations) == 1 && pod.Affinity.NodeAffinity != nil,
		"priority":        pod.PriorityClassName == "high",
	} {
		if !holds {
			t.Errorf("the chart ignores a value: %s", what)
		}
	}
	c, err := config.Parse([]byte(m.configuration.Data["locus.yaml"]))
	if err != nil || c.Cluster != "other" || c.Proxy.TLS.Cert == "" || c.HTTP.TLS.Cert != "" {
		t.Errorf("configuration %+v: %v", c, err)
	}
}

func hasItem(items []core.KeyToPath, path string) bool {
	return slices.ContainsFunc(items, func(i core.KeyToPath) bool { return i.Path == path })
}

// The pods are replaced if the configuration changes, and only then.
func TestAChangedConfigurationReplacesThePods(t *testing.T) {
	sum := func(values string) string {
		return decode(t, rendered(t, values)).set.Spec.Template.Annotations["locus/configuration"]
	}
	same, other := sum(released+"\nreplicas: 7"), sum(released+"\nconfig: {cluster: other}")
	if first := sum(released); first == "" || same != first || other == first {
		t.Errorf("checksums %q, with more replicas %q, with another configuration %q", first, same, other)
	}
}

func TestTheChartRefusesValues(t *testing.T) {
	for values, reason := range map[string]string{
		`{}`:                                             "set image.repository",
		released + "\nreplica: 3":                        "replica",
		released + "\nreplicas: many":                    "replicas",
		released + "\nservice: {typ: NodePort}":          "typ",
		released + "\nservice: {port: 0}":                "port",
		released + "\ngoMemoryLimit: 2Gi":                "goMemoryLimit",
		released + "\nconfig: {proxy: {listen: 4306}}":   "listen",
		released + "\npersistence: {storageclass: fast}": "storageclass",
	} {
		if _, err := render(values); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("values %q: %v, and not an error about %q", values, err, reason)
		}
	}
}

// The notes name what the operator must provide, for the values that were given.
func TestTheChartsNotes(t *testing.T) {
	texts, err := render(released + "\nsecrets: {items: {shards-s1: null}}\ntls: {name: certificates}")
	if err != nil {
		t.Fatal(err)
	}
	notes := texts["locus/templates/NOTES.txt"]
	for _, part := range []string{"3 proxies of locus 1.0.0", "locus: etcd http keys shards-s0 users-app", "certificates: tls.crt tls.key ca.pem", "kubectl -n data exec -i locus-0", "locus.data.svc, port 3306"} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q:\n%s", part, notes)
		}
	}
}
