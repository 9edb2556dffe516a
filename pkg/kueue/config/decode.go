package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

var configScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(configv1beta1.AddToScheme(s))
	utilruntime.Must(configapi.AddToScheme(s))
	return s
}()

var strictCodecs = serializer.NewCodecFactory(configScheme, serializer.EnableStrict)

// decodeConfiguration reads a Configuration as a release of Kueue reads its file: strictly, in v1beta1 or v1beta2,
// completed with defaults. What could be read is returned along with the error; it is nil when nothing could be.
// namespace is the manager's, for a Configuration that names none.
func decodeConfiguration(data []byte, b release.Behavior, namespace string) (*configapi.Configuration, error) {
	// A document without apiVersion and kind is taken as v1beta2, as Kueue does.
	object, _, err := strictCodecs.UniversalDeserializer().Decode(data, nil, &configapi.Configuration{})
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return nil, withoutSchemeName(err)
	}
	err = versionedFields(data, object, b, err)
	switch from := object.(type) {
	case *configapi.Configuration:
		return defaulted(from, b, namespace), err
	case *configv1beta1.Configuration:
		if from.Namespace == nil {
			from.Namespace = &namespace
		}
		configScheme.Default(from)
		to := &configapi.Configuration{}
		if convertErr := from.ConvertTo(to); convertErr != nil {
			return nil, cmp.Or(err, convertErr)
		}
		return to, err
	}
	return nil, fmt.Errorf("%T is not a Configuration", object)
}

// withoutSchemeName drops where in a program the scheme was made, which says nothing about the file.
func withoutSchemeName(err error) error {
	return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), fmt.Sprintf(" in scheme %q", configScheme.Name()), ""))
}

// defaulted completes a v1beta2 Configuration with the defaults of the release.
// The namespace is set first: Kueue's own default for it looks at the machine it runs on.
func defaulted(c *configapi.Configuration, b release.Behavior, namespace string) *configapi.Configuration {
	if c.Namespace == nil {
		c.Namespace = &namespace
	}
	hadWait := c.WaitForPodsReady != nil
	noTimeout := hadWait && c.WaitForPodsReady.Timeout.Duration == 0
	configScheme.Default(c)
	if b.WFPRDefaulted {
		return c
	}
	// Before 0.19 waitForPodsReady had no default, and no default timeout.
	if !hadWait {
		c.WaitForPodsReady = nil
	} else if noTimeout {
		c.WaitForPodsReady.Timeout.Duration = 0
	}
	if c.MultiKueue != nil && !b.ConfigurationOf19 {
		c.MultiKueue.IncrementalDispatcherConfig = nil
	}
	return c
}

// youngField is a field of the Configuration that older releases do not know.
type youngField struct {
	// path of the field; [] stands for every item of a list.
	path  string
	known func(release.Behavior) bool
	// v1beta1 tells that the field is in v1beta1, too.
	v1beta1 bool
}

func quotaCheckStrategy(b release.Behavior) bool { return b.QuotaCheckStrategyField }
func counterSources(b release.Behavior) bool     { return b.CounterSources }
func capacitySources(b release.Behavior) bool    { return b.CapacitySources }
func configurationOf19(b release.Behavior) bool  { return b.ConfigurationOf19 }

var youngFields = []youngField{
	{path: "resources.quotaCheckStrategy", known: quotaCheckStrategy},
	{path: "resources.deviceClassMappings[].sources", known: counterSources},
	{path: "resources.deviceClassMappings[].sources[].capacity", known: capacitySources},
	{path: "metrics.customLabels[].sourceKind", known: configurationOf19},
	{path: "metrics.customLabels[].trackedValues", known: configurationOf19},
	{path: "multiKueue.incrementalDispatcherConfig", known: configurationOf19},
	{path: "multiKueue.clusterProfile.accessProviders", known: configurationOf19},
	{path: "tls.curvePreferences", known: configurationOf19, v1beta1: true},
}

// versionedFields adds the fields that the release does not know to the strict decoding error.
func versionedFields(data []byte, object runtime.Object, b release.Behavior, strict error) error {
	var doc any
	if b.ConfigurationOf19 || yaml.Unmarshal(data, &doc) != nil {
		return strict
	}
	_, old := object.(*configv1beta1.Configuration)
	var unknown []string
	for _, f := range youngFields {
		if f.known(b) || old && !f.v1beta1 {
			continue
		}
		for _, p := range pathsAt(doc, f.path, "") {
			if !underAny(p, unknown) {
				unknown = append(unknown, p)
			}
		}
	}
	if len(unknown) == 0 {
		return strict
	}
	var errs []error
	if e, ok := runtime.AsStrictDecodingError(strict); ok {
		errs = e.Errors()
	}
	for _, p := range unknown {
		errs = append(errs, fmt.Errorf("unknown field %q", p))
	}
	// The decoder walks maps by key.
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return runtime.NewStrictDecodingError(errs)
}

// underAny tells whether a path is below one of the others: what is below an unknown field is not told again.
func underAny(path string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool {
		return strings.HasPrefix(path, o+".") || strings.HasPrefix(path, o+"[")
	})
}

// pathsAt lists the paths in a document that a pattern matches.
func pathsAt(value any, pattern, at string) []string {
	head, rest, deeper := strings.Cut(pattern, ".")
	name, isList := strings.CutSuffix(head, "[]")
	object, _ := value.(map[string]any)
	child, ok := object[name]
	if !ok {
		return nil
	}
	path := strings.TrimPrefix(at+"."+name, ".")
	if !deeper {
		return []string{path}
	}
	if !isList {
		return pathsAt(child, rest, path)
	}
	var out []string
	items, _ := child.([]any)
	for i, item := range items {
		out = append(out, pathsAt(item, rest, fmt.Sprintf("%s[%d]", path, i))...)
	}
	return out
}
