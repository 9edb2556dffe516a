package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// OpenShiftManagedLabel is the namespace label that the Red Hat build of Kueue asks for, with the value "true".
const OpenShiftManagedLabel = "kueue.openshift.io/managed"

// openShiftKueue is what matters of spec.config of the Kueue resource of the Red Hat build.
type openShiftKueue struct {
	Spec struct {
		Config openShiftConfig `json:"config"`
	} `json:"spec"`
}

type openShiftConfig struct {
	Integrations struct {
		Frameworks         []string            `json:"frameworks"`
		ExternalFrameworks []openShiftResource `json:"externalFrameworks"`
		LabelKeysToCopy    []struct {
			Key string `json:"key"`
		} `json:"labelKeysToCopy"`
	} `json:"integrations"`
	WorkloadManagement struct {
		LabelPolicy string `json:"labelPolicy"`
	} `json:"workloadManagement"`
	GangScheduling openShiftGangScheduling `json:"gangScheduling"`
	Preemption     struct {
		PreemptionPolicy string `json:"preemptionPolicy"`
	} `json:"preemption"`
	Resources struct {
		DeviceClassMappings []openShiftMapping `json:"deviceClassMappings"`
	} `json:"resources"`
	MultiKueue *struct {
		ExternalFrameworks []openShiftResource `json:"externalFrameworks"`
	} `json:"multiKueue"`
	AdmissionFairSharing openShiftFairSharing `json:"admissionFairSharing"`
}

type openShiftResource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	Version  string `json:"version"`
}

type openShiftGangScheduling struct {
	Policy     string `json:"policy"`
	ByWorkload *struct {
		Admission              string `json:"admission"`
		TimeoutSeconds         int32  `json:"timeoutSeconds"`
		RecoveryTimeoutSeconds *int32 `json:"recoveryTimeoutSeconds"`
		RequeuingStrategy      struct {
			TimeReference      string `json:"timeReference"`
			RetryLimit         int32  `json:"retryLimit"`
			BackoffBaseSeconds int32  `json:"backoffBaseSeconds"`
			BackoffMaxSeconds  int32  `json:"backoffMaxSeconds"`
		} `json:"requeuingStrategy"`
	} `json:"byWorkload"`
}

type openShiftMapping struct {
	Name             string                `json:"name"`
	DeviceClassNames []corev1.ResourceName `json:"deviceClassNames"`
	Sources          []struct {
		Counter struct {
			Name           string `json:"name"`
			Driver         string `json:"driver"`
			DeviceSelector struct {
				CEL struct {
					Expression string `json:"expression"`
				} `json:"cel"`
			} `json:"deviceSelector"`
		} `json:"counter"`
	} `json:"sources"`
}

type openShiftFairSharing struct {
	Configuration string `json:"configuration"`
	Custom        struct {
		UsageHalfLifeTimeSeconds     int32 `json:"usageHalfLifeTimeSeconds"`
		UsageSamplingIntervalSeconds int32 `json:"usageSamplingIntervalSeconds"`
		ResourceWeights              []struct {
			Name   string `json:"name"`
			Weight string `json:"weight"`
		} `json:"resourceWeights"`
	} `json:"custom"`
}

// readOpenShiftKueue reads spec.config of a Kueue resource.
func readOpenShiftKueue(raw *cluster.Raw) (*openShiftConfig, error) {
	var k openShiftKueue
	if err := json.Unmarshal(raw.JSON, &k); err != nil {
		return nil, fmt.Errorf("the Kueue resource %s can't be read: %w", raw.Name, err)
	}
	return &k.Spec.Config, nil
}

// translate makes the Configuration that the operator writes for a Kueue resource, before defaults.
// Settings of servers and clients that change no decision are left at their defaults.
// Operators of a 0.18 operand (1.4 and before) knew less of gang scheduling.
func (k *openShiftConfig) translate(b release.Behavior, namespace string,
	gates kubernetesGates) (*configapi.Configuration, error) {
	fairSharing, err := k.AdmissionFairSharing.translate()
	if err != nil {
		return nil, err
	}
	c := &configapi.Configuration{
		Namespace:                    &namespace,
		ManageJobsWithoutQueueName:   k.WorkloadManagement.LabelPolicy == "None",
		ManagedJobsNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{OpenShiftManagedLabel: "true"}},
		InternalCertManagement:       &configapi.InternalCertManagement{Enable: new(bool)},
		Integrations:                 &configapi.Integrations{Frameworks: []string{}},
		WaitForPodsReady:             k.GangScheduling.translate(b.WFPRDefaulted),
		Resources:                    k.translateResources(),
		FeatureGates:                 k.featureGates(gates),
		AdmissionFairSharing:         fairSharing,
	}
	c.Metrics.EnableClusterQueueResources = true
	for _, name := range k.Integrations.Frameworks {
		framework := ""
		if k := jobs.ByOpenShiftName(name); k != nil {
			framework = k.Framework
		}
		c.Integrations.Frameworks = append(c.Integrations.Frameworks, framework)
	}
	for _, e := range k.Integrations.ExternalFrameworks {
		c.Integrations.ExternalFrameworks = append(c.Integrations.ExternalFrameworks, e.dotted())
	}
	for _, l := range k.Integrations.LabelKeysToCopy {
		c.Integrations.LabelKeysToCopy = append(c.Integrations.LabelKeysToCopy, l.Key)
	}
	if k.Preemption.PreemptionPolicy == "FairSharing" {
		c.FairSharing = &configapi.FairSharing{PreemptionStrategies: []configapi.PreemptionStrategy{
			configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare}}
	}
	if k.MultiKueue != nil {
		c.MultiKueue = &configapi.MultiKueue{}
		for _, e := range k.MultiKueue.ExternalFrameworks {
			// The operator asks the API server for the kind, and writes the resource when it gets no answer.
			c.MultiKueue.ExternalFrameworks = append(c.MultiKueue.ExternalFrameworks,
				configapi.MultiKueueExternalFramework{Name: e.dotted()})
		}
	}
	return c, nil
}

func (r openShiftResource) dotted() string {
	return fmt.Sprintf("%s.%s.%s", r.Resource, r.Version, r.Group)
}

func seconds(n int32) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(n) * time.Second}
}

func (g openShiftGangScheduling) translate(timeouts bool) *configapi.WaitForPodsReady {
	if g.Policy == "None" && timeouts {
		// As good as never: from 0.19 waitForPodsReady can't be left out, it has defaults.
		return &configapi.WaitForPodsReady{Timeout: metav1.Duration{Duration: 365 * 24 * time.Hour},
			BlockAdmission: new(bool)}
	}
	if g.Policy != "ByWorkload" {
		return nil
	}
	by := g.ByWorkload
	w := &configapi.WaitForPodsReady{BlockAdmission: new(bool)}
	*w.BlockAdmission = by != nil && by.Admission == "Sequential"
	if !timeouts {
		w.Timeout.Duration = 5 * time.Minute
		return w
	}
	if by == nil {
		return w
	}
	if by.TimeoutSeconds > 0 {
		w.Timeout = seconds(by.TimeoutSeconds)
	}
	if by.RecoveryTimeoutSeconds != nil {
		d := seconds(*by.RecoveryTimeoutSeconds)
		w.RecoveryTimeout = &d
	}
	given := by.RequeuingStrategy
	var s configapi.RequeuingStrategy
	if given.TimeReference != "" {
		reference := configapi.RequeuingTimestamp(given.TimeReference)
		s.Timestamp = &reference
	}
	s.BackoffLimitCount = unlessZero(given.RetryLimit)
	s.BackoffBaseSeconds = unlessZero(given.BackoffBaseSeconds)
	s.BackoffMaxSeconds = unlessZero(given.BackoffMaxSeconds)
	if s != (configapi.RequeuingStrategy{}) {
		w.RequeuingStrategy = &s
	}
	return w
}

func unlessZero(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

func (f openShiftFairSharing) translate() (*configapi.AdmissionFairSharing, error) {
	switch f.Configuration {
	case "":
		return nil, nil
	case "Custom":
	default:
		return &configapi.AdmissionFairSharing{UsageHalfLifeTime: metav1.Duration{Duration: 30 * time.Minute}}, nil
	}
	out := &configapi.AdmissionFairSharing{ResourceWeights: map[corev1.ResourceName]float64{}}
	if f.Custom.UsageHalfLifeTimeSeconds > 0 {
		out.UsageHalfLifeTime = seconds(f.Custom.UsageHalfLifeTimeSeconds)
	}
	if f.Custom.UsageSamplingIntervalSeconds > 0 {
		out.UsageSamplingInterval = seconds(f.Custom.UsageSamplingIntervalSeconds)
	}
	for _, w := range f.Custom.ResourceWeights {
		weight, err := strconv.ParseFloat(w.Weight, 64)
		if err != nil {
			return nil, fmt.Errorf("the weight of resource %s in the Kueue resource is not a number: %q", w.Name,
				w.Weight)
		}
		out.ResourceWeights[corev1.ResourceName(w.Name)] = weight
	}
	return out, nil
}

func (k *openShiftConfig) translateResources() *configapi.Resources {
	if len(k.Resources.DeviceClassMappings) == 0 {
		return nil
	}
	out := &configapi.Resources{}
	for _, m := range k.Resources.DeviceClassMappings {
		mapping := configapi.DeviceClassMapping{Name: corev1.ResourceName(m.Name), DeviceClassNames: m.DeviceClassNames}
		for _, s := range m.Sources {
			counter := &configapi.DeviceClassCounterSource{Name: s.Counter.Name, Driver: s.Counter.Driver}
			if e := s.Counter.DeviceSelector.CEL.Expression; e != "" {
				counter.DeviceSelector = resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}}
			}
			mapping.Sources = append(mapping.Sources, configapi.DeviceClassSourceConfig{Counter: counter})
		}
		out.DeviceClassMappings = append(out.DeviceClassMappings, mapping)
	}
	return out
}

func (k *openShiftConfig) hasSources() bool {
	return slices.ContainsFunc(k.Resources.DeviceClassMappings,
		func(m openShiftMapping) bool { return len(m.Sources) > 0 })
}

// featureGates are those the operator writes: only ever true, and none at all when none is needed.
func (k *openShiftConfig) featureGates(kubernetes kubernetesGates) map[string]bool {
	out := map[string]bool{}
	write := func(gate string, needed bool) {
		if needed {
			out[gate] = true
		}
	}
	write(release.KueueDRAIntegrationExtendedResource, kubernetes.extendedResource)
	write(release.KueueDRAIntegrationPartitionableDevices, kubernetes.partitionableDevices && k.hasSources())
	write(release.SparkApplicationIntegration, slices.Contains(k.Integrations.Frameworks, "SparkApplication"))
	write(release.ShortWorkloadNames, len(k.Integrations.ExternalFrameworks) > 0 || k.MultiKueue != nil &&
		len(k.MultiKueue.ExternalFrameworks) > 0)
	if len(out) == 0 {
		return nil
	}
	return out
}

// kubernetesGates are the feature gates of the cluster that the operator looks at.
type kubernetesGates struct {
	// known tells that the FeatureGate resource was in the input, or is known not to exist.
	known                                  bool
	extendedResource, partitionableDevices bool
}

// readKubernetesGates reads the FeatureGate resource named cluster as the operator does: only gates that
// spec.customNoUpgrade enables count, whatever the version of Kubernetes turns on by itself.
func readKubernetesGates(snap *cluster.Snapshot) kubernetesGates {
	out := kubernetesGates{known: snap.Coverage.Has(cluster.OpenShiftFeatureGate)}
	raw, _, ok := cluster.Lookup[*cluster.Raw](snap, cluster.OpenShiftFeatureGate, "", "cluster")
	if !ok {
		return out
	}
	var fg struct {
		Spec struct {
			FeatureSet      string `json:"featureSet"`
			CustomNoUpgrade struct {
				Enabled []string `json:"enabled"`
			} `json:"customNoUpgrade"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw.JSON, &fg) != nil {
		return kubernetesGates{}
	}
	if fg.Spec.FeatureSet == "CustomNoUpgrade" {
		out.extendedResource = slices.Contains(fg.Spec.CustomNoUpgrade.Enabled, "DRAExtendedResource")
		out.partitionableDevices = slices.Contains(fg.Spec.CustomNoUpgrade.Enabled, "DRAPartitionableDevices")
	}
	return out
}
