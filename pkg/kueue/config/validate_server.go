package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
	cliflag "k8s.io/component-base/cli/flag"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
)

const tls13 = "VersionTLS13"

func (v validator) tls() field.ErrorList {
	if v.TLS == nil {
		return nil
	}
	path := field.NewPath("tls")
	if err := v.tlsError(); err != nil {
		return field.ErrorList{field.Invalid(path, v.TLS, err.Error())}
	}
	if v.TLS.MinVersion == tls13 && len(v.TLS.CipherSuites) > 0 {
		return field.ErrorList{field.Invalid(path.Child("cipherSuites"), v.TLS.CipherSuites,
			"may not be specified when `minVersion` is 'VersionTLS13'")}
	}
	return nil
}

// tlsError is the error of parsing the options of tls, each by the flag library of Kubernetes.
func (v validator) tlsError() error {
	var errs []error
	switch given := v.TLS.MinVersion; given {
	case "":
	case "VersionTLS10", "VersionTLS11":
		errs = append(errs, errors.New("invalid minVersion. Please use VersionTLS12 or VersionTLS13"))
	default:
		if _, err := cliflag.TLSVersion(given); err != nil {
			errs = append(errs, fmt.Errorf("invalid minVersion: %w. Please use VersionTLS12 or VersionTLS13", err))
		}
	}
	if _, err := cliflag.TLSCipherSuites(v.TLS.CipherSuites); err != nil {
		errs = append(errs,
			fmt.Errorf("invalid cipher suites: %w. Please use the secure cipher names: %v", err,
				cliflag.PreferredTLSCipherNames()))
	}
	if _, err := cliflag.TLSCurvePreferences(v.TLS.CurvePreferences); err != nil {
		errs = append(errs, fmt.Errorf("invalid curve preferences: %w", err))
	}
	if len(errs) > 1 && !v.behavior.TLSErrorsJoined {
		errs = errs[len(errs)-1:]
	}
	return errors.Join(errs...)
}

// Limits of metrics.customLabels.
const (
	maxCustomLabels          = 20
	maxTrackedValues         = 16
	maxTrackedWorkloadValues = 12
)

var (
	customLabelName     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
	maxCustomLabelsKind = map[configapi.SourceKind]int{
		configapi.SourceKindWorkload:     2,
		configapi.SourceKindLocalQueue:   6,
		configapi.SourceKindClusterQueue: 6,
		configapi.SourceKindCohort:       6,
	}
)

func (v validator) customLabels() field.ErrorList {
	entries := v.Metrics.CustomLabels
	var errs field.ErrorList
	path := field.NewPath("metrics", "customLabels")
	if v.behavior.CustomLabelLimits && len(entries) > maxCustomLabels {
		errs = append(errs, field.TooMany(path, len(entries), maxCustomLabels))
	}
	names := map[string]bool{}
	kinds := map[configapi.SourceKind]int{}
	for i, e := range entries {
		at := path.Index(i)
		if !customLabelName.MatchString(e.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), e.Name, "must match ^[a-zA-Z][a-zA-Z0-9_]*$"))
		}
		if names[e.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		names[e.Name] = true
		errs = append(errs, customLabelSource(at, e)...)
		if v.behavior.CustomLabelLimits {
			kind := sourceKind(e)
			kinds[kind]++
			errs = append(errs, trackedValues(at.Child("trackedValues"), kind, e.TrackedValues)...)
		}
	}
	return append(errs, customLabelKinds(path, entries, kinds)...)
}

func sourceKind(e configapi.ControllerMetricsCustomLabel) configapi.SourceKind {
	if e.SourceKind == nil {
		return configapi.DefaultCustomMetricLabelSourceKind
	}
	return *e.SourceKind
}

func customLabelSource(path *field.Path, e configapi.ControllerMetricsCustomLabel) field.ErrorList {
	var errs field.ErrorList
	if e.SourceLabelKey != "" && e.SourceAnnotationKey != "" {
		errs = append(errs, field.Invalid(path, e, "sourceLabelKey and sourceAnnotationKey are mutually exclusive"))
	}
	name, value := "name", e.Name
	if e.SourceLabelKey != "" {
		name, value = "sourceLabelKey", e.SourceLabelKey
	} else if e.SourceAnnotationKey != "" {
		name, value = "sourceAnnotationKey", e.SourceAnnotationKey
	}
	if bad := content.IsLabelKey(value); len(bad) > 0 {
		errs = append(errs, field.Invalid(path.Child(name), value, strings.Join(bad, "; ")))
	}
	return errs
}

func trackedValues(path *field.Path, kind configapi.SourceKind, values []string) field.ErrorList {
	var errs field.ErrorList
	switch {
	case kind != configapi.SourceKindWorkload:
		if len(values) > maxTrackedValues {
			errs = append(errs, field.TooMany(path, len(values), maxTrackedValues))
		}
	case len(values) == 0:
		errs = append(errs, field.Invalid(path, values, "must not be empty when sourceKind is 'Workload'"))
	case len(values) > maxTrackedWorkloadValues:
		errs = append(errs, field.Invalid(path, values,
			fmt.Sprintf("must not be greater than %d when sourceKind is 'Workload'", maxTrackedWorkloadValues)))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(values)))) < len(values) {
		errs = append(errs, field.Invalid(path, values, "must not contain duplicates"))
	}
	return errs
}

func customLabelKinds(path *field.Path, entries []configapi.ControllerMetricsCustomLabel,
	counts map[configapi.SourceKind]int) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		limit, known := maxCustomLabelsKind[kind]
		switch {
		case !known:
			errs = append(errs, field.Invalid(path, entries, fmt.Sprintf("unknown source kind: %s", kind)))
		case counts[kind] > limit:
			errs = append(errs, field.Invalid(path, entries,
				fmt.Sprintf("too many custom labels for source kind %s: found %d, expected <= %d", kind, counts[kind],
					limit)))
		}
	}
	return errs
}
