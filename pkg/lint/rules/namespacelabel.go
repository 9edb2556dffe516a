package rules

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// wantedLabel is the one label that a namespace lacks for a selector to match it. ok is false when it lacks more than
// one, or when more than one value would do.
func wantedLabel(selector *metav1.LabelSelector, has map[string]string) (key, value string, ok bool) {
	if selector == nil {
		return "", "", false
	}
	requirements := append([]metav1.LabelSelectorRequirement{}, selector.MatchExpressions...)
	for k, v := range selector.MatchLabels {
		requirements = append(requirements,
			metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
	}
	for _, r := range requirements {
		alone := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}
		matched, err := metav1.LabelSelectorAsSelector(alone)
		switch {
		case err != nil:
			return "", "", false
		case matched.Matches(labelSet(has)):
		case ok || r.Operator != metav1.LabelSelectorOpIn || len(r.Values) != 1 ||
			strings.HasPrefix(r.Key, "kubernetes.io/"):
			return "", "", false
		default:
			key, value, ok = r.Key, r.Values[0], true
		}
	}
	return key, value, ok
}

type labelSet map[string]string

// Has implements labels.Labels.
func (s labelSet) Has(key string) bool { _, ok := s[key]; return ok }

// Get implements labels.Labels.
func (s labelSet) Get(key string) string { return s[key] }

// Lookup implements labels.Labels.
func (s labelSet) Lookup(key string) (string, bool) { v, ok := s[key]; return v, ok }

// notText are words that YAML reads as something else than text.
var notText = map[string]bool{"true": true, "false": true, "on": true, "off": true, "yes": true, "no": true, "y": true,
	"n": true, "null": true}

// labelFix adds the label that makes Kueue manage a namespace to its manifest. Nil when it is not plain which, or
// where.
func labelFix(p *lint.Pass, ns *cluster.Object) *lint.Fix {
	if ns == nil {
		return nil
	}
	key, value, ok := config.OpenShiftManagedLabel, "true", true
	if !p.Config.OpenShift {
		key, value, ok = wantedLabel(p.Config.Configuration.ManagedJobsNamespaceSelector, ns.Meta.Labels)
	}
	if !ok {
		return nil
	}
	description := fmt.Sprintf("label namespace %s: %s=%s", ns.Ref.Name, key, value)
	if _, has := ns.Meta.Labels[key]; has {
		return p.Replace(lint.At(ns, fmt.Sprintf("metadata.labels[%q]", key)), value, description)
	}
	if notText[strings.ToLower(value)] || strings.Trim(value, "0123456789.") == "" {
		value = `"` + value + `"`
	}
	edit, ok := addLabel(ns, key, value)
	if !ok {
		return nil
	}
	return &lint.Fix{Description: description, Safe: true, Edits: []lint.Edit{edit}}
}

// addLabel is the edit that adds a label to a manifest; ok is false where its layout leaves no plain place.
func addLabel(ns *cluster.Object, key, value string) (edit lint.Edit, ok bool) {
	metadata, labels := lint.At(ns, "metadata").Location(), lint.At(ns, "metadata.labels").Location()
	inMetadata, ok1 := metadata.Written()
	inLabels, ok2 := labels.Written()
	if !ok1 || !ok2 || metadata.Column < 1 {
		return edit, false
	}
	lacksLabels := len(ns.Meta.Labels) == 0 && inLabels == inMetadata // Field returned the parent
	switch {
	case !lacksLabels && strings.HasPrefix(inLabels, "{"):
		edit = intoFlow(labels, inLabels, key, value)
	case !lacksLabels && len(ns.Meta.Labels) > 0:
		name := lint.At(ns, "metadata.labels").Name().Location()
		line, ok := name.Text(name.Line)
		if !ok {
			return edit, false
		}
		edit = lint.Insert(name.File, name.Line, len(line)+1, "\n"+strings.Repeat(" ", labels.Column-1)+key+": "+value)
	case !lacksLabels:
		return edit, false
	case strings.HasPrefix(inMetadata, "{"):
		name := lint.At(ns, "metadata.name").Location()
		entry := fmt.Sprintf(", labels: {%s: %s}", key, value)
		if strings.Contains(inMetadata, `"name"`) {
			entry = fmt.Sprintf(`, "labels": {%q: %q}`, key, strings.Trim(value, `"`))
		}
		edit = lint.Insert(name.File, name.EndLine, name.EndColumn, entry)
	default:
		name := lint.At(ns, "metadata.name").Location()
		line, ok := name.Text(name.EndLine)
		if !ok {
			return edit, false
		}
		indent := strings.Repeat(" ", metadata.Column-1)
		edit = lint.Insert(name.File, name.EndLine, len(line)+1, "\n"+indent+"labels:\n"+indent+"  "+key+": "+value)
	}
	return edit, true
}

// intoFlow puts an entry at the start of `{a: b}`.
func intoFlow(l lint.Location, text, key, value string) lint.Edit {
	entry := key + ": " + value
	rest := strings.TrimSpace(text[1:])
	if strings.HasPrefix(rest, `"`) || strings.Contains(text, "\n") {
		entry = fmt.Sprintf("%q: %q", key, strings.Trim(value, `"`))
	}
	if rest != "}" {
		entry += ", "
	}
	return lint.Insert(l.File, l.Line, l.Column+1, entry)
}
