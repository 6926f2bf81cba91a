package manifests

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"locus/config"
)

// manifest contains the objects in deploy/kubernetes/locus.yaml, or in the chart.
type manifest struct {
	configuration core.ConfigMap
	services      []core.Service
	budget        policy.PodDisruptionBudget
	set           apps.StatefulSet
}

// each runs a test on the manifest of deploy/kubernetes and on the chart's.
func each(t *testing.T, test func(*testing.T, manifest)) {
	t.Run("kubernetes", func(t *testing.T) { test(t, decode(t, file(t, "../../deploy/kubernetes/locus.yaml"))) })
	t.Run("chart", func(t *testing.T) { test(t, decode(t, rendered(t, released))) })
}

func file(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode decodes a manifest; a field that its type doesn't have is an error.
func decode(t *testing.T, text []byte) (m manifest) {
	t.Helper()
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		var into any
		var service core.Service
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 ConfigMap":
			into = &m.configuration
		case "v1 Service":
			into = &service
		case "policy/v1 PodDisruptionBudget":
			into = &m.budget
		case "apps/v1 StatefulSet":
			into = &m.set
		default:
			t.Fatalf("%s %s is not known here", kind.APIVersion, kind.Kind)
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		if _, is := into.(runtime.Object); !is {
			t.Errorf("%s is no object of the API", kind.Kind)
		}
		if service.Name != "" {
			m.services = append(m.services, service)
		}
	}
	return m
}

// The objects of a manifest refer to each other by names and labels that exist.
func TestTheManifest(t *testing.T) { each(t, checkReferences) }

func checkReferences(t *testing.T, m manifest) {
	pod := m.set.Spec.Template
	container := pod.Spec.Containers[0]
	for of, labels := range map[string]map[string]string{
		"the set": m.set.Spec.Selector.MatchLabels, "the budget": m.budget.Spec.Selector.MatchLabels,
		"service " + m.services[0].Name: m.services[0].Spec.Selector, "service " + m.services[1].Name: m.services[1].Spec.Selector,
	} {
		for name, value := range labels {
			if pod.Labels[name] != value {
				t.Errorf("%s selects %s=%s, and pods have %v", of, name, value, pod.Labels)
			}
		}
		if len(labels) == 0 {
			t.Errorf("%s selects everything", of)
		}
	}
	if !slices.ContainsFunc(m.services, func(s core.Service) bool {
		return s.Name == m.set.Spec.ServiceName && s.Spec.ClusterIP == core.ClusterIPNone
	}) {
		t.Errorf("no headless service is called %s", m.set.Spec.ServiceName)
	}
	ports := map[string]bool{}
	for _, p := range container.Ports {
		ports[p.Name] = true
	}
	wanted := []intstr.IntOrString{container.ReadinessProbe.HTTPGet.Port, container.LivenessProbe.HTTPGet.Port}
	for _, s := range m.services {
		for _, p := range s.Spec.Ports {
			wanted = append(wanted, p.TargetPort)
		}
	}
	for _, port := range wanted {
		if !ports[port.StrVal] {
			t.Errorf("no port of the container is called %q", port.StrVal)
		}
	}
}

// Volumes that are mounted exist, and volumes that exist are mounted.
func TestTheManifestsVolumes(t *testing.T) { each(t, checkVolumes) }

func checkVolumes(t *testing.T, m manifest) {
	volumes := map[string]bool{}
	for _, v := range m.set.Spec.Template.Spec.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && v.ConfigMap.Name != m.configuration.Name {
			t.Errorf("volume %s is of %s, which is not there", v.Name, v.ConfigMap.Name)
		}
	}
	for _, claim := range m.set.Spec.VolumeClaimTemplates {
		volumes[claim.Name] = true
	}
	for _, mount := range m.set.Spec.Template.Spec.Containers[0].VolumeMounts {
		if !volumes[mount.Name] {
			t.Errorf("%s mounts volume %s, which is not there", mount.MountPath, mount.Name)
		}
		delete(volumes, mount.Name)
	}
	for name := range volumes {
		t.Errorf("nobody mounts %s", name)
	}
}

// A pod has the time to drain that the configuration gives it, and Go's limit of memory is below the container's.
func TestTheManifestsLimits(t *testing.T) { each(t, checkLimits) }

func checkLimits(t *testing.T, m manifest) {
	c, err := config.Parse([]byte(m.configuration.Data["locus.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	spec := m.set.Spec.Template.Spec
	drains := c.Proxy.DrainDelay.Std() + c.Proxy.DrainTimeout.Std()
	if given := time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second; given <= drains {
		t.Errorf("pods are killed after %v, and drain for up to %v", given, drains)
	}
	container := spec.Containers[0]
	for _, env := range container.Env {
		if env.Name != "GOMEMLIMIT" {
			continue
		}
		given, err := resource.ParseQuantity(env.Value[:len(env.Value)-1]) // Go writes MiB where Kubernetes has Mi
		if limit := container.Resources.Limits.Memory(); err != nil || given.Cmp(*limit) >= 0 {
			t.Errorf("GOMEMLIMIT %s, of %s: %v", env.Value, limit, err)
		}
		return
	}
	t.Error("GOMEMLIMIT is not set")
}
