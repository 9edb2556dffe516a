package collect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// keptKinds keep their names: they name hardware and settings, not people or projects, and expressions and
// messages refer to them.
var keptKinds = []schema.GroupKind{
	cluster.DeviceClass, cluster.ResourceFlavor, cluster.Topology, cluster.AdmissionCheck, cluster.RuntimeClass,
	cluster.OpenShiftKueue, cluster.OpenShiftFeatureGate,
}

// keptNames mean the same in every cluster.
var keptNames = []string{
	"default", "kube-system", "kube-public", "kube-node-lease", "kueue-system", "openshift-kueue-operator",
	"system-node-critical", "system-cluster-critical",
}

// plainWords stand in messages for what they say, whatever else is called so.
var plainWords = []string{"cpu", "memory", "pods", "ephemeral-storage", "main", "pod", "set", "flavor", "quota",
	"default"}

// isKeptNamespace tells the namespaces of Kueue and of Kubernetes. What they hold keeps its name: it is known anyway.
func isKeptNamespace(name string) bool { return name != "default" && name != "" && kept(name) }

func kept(name string) bool {
	return name == "" || slices.Contains(keptNames, name) || strings.HasPrefix(name, "openshift-")
}

// names maps the names of a cluster to those of its dump. The new names of a kind have the order of the old ones,
// so that what is ordered by name stays so.
type names struct {
	to map[string]string
	// given counts the new names by what they begin with.
	given map[string]int
}

// replaceNames gives the objects other names.
func (d *Dump) replaceNames() {
	n := names{to: map[string]string{}, given: map[string]int{}}
	n.add("namespace", d.collectNames(func(o map[string]any) []string {
		return []string{text(o, "metadata",
			"namespace")}
	}))
	if !kept(d.opts.Namespace) {
		n.add("namespace", map[string]bool{d.opts.Namespace: true})
	}
	for _, k := range cluster.Kinds() {
		if slices.Contains(keptKinds, k.GroupKind) {
			continue
		}
		roots, owned := map[string]bool{}, map[string]bool{}
		for _, l := range d.lists {
			if l.kind.GroupKind != k.GroupKind {
				continue
			}
			for _, o := range l.items {
				name := text(o, "metadata", "name")
				switch {
				case kept(name) || isKeptNamespace(text(o, "metadata", "namespace")):
				case isOwned(o):
					owned[name] = true
				default:
					roots[name] = true
				}
			}
		}
		n.add(strings.ToLower(k.Kind), roots)
		// The name of what a job owns holds the job's name: it gets a name of its own only where it does not.
		maps.DeleteFunc(owned, func(name string, _ bool) bool { return n.word(name) != name })
		n.add(strings.ToLower(k.Kind), owned)
	}
	n.add("cohort", d.collectNames(cohorts))
	n.add("node", d.collectNames(nodes))
	for _, l := range d.lists {
		for _, o := range l.items {
			n.object(o, slices.Contains(keptKinds, l.kind.GroupKind))
		}
		l.namespace = n.word(l.namespace)
	}
	d.opts.Namespace = n.word(d.opts.Namespace)
	for i := range d.gaps {
		// The server's refusal names the user.
		if forbidden, _, ok := strings.Cut(d.gaps[i].Reason, ": "); ok {
			d.gaps[i].Reason = forbidden + ": the reason is left out"
		}
	}
}

func isOwned(o map[string]any) bool {
	metadata, _ := o["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	return len(owners) > 0
}

// cohorts need no object of their own.
func cohorts(o map[string]any) []string {
	return []string{text(o, "spec", "cohort"), text(o, "spec", "cohortName"), text(o, "spec", "parent"),
		text(o, "spec", "parentName")}
}

func nodes(o map[string]any) []string { return []string{text(o, "spec", "nodeName")} }

func (d *Dump) collectNames(of func(map[string]any) []string) map[string]bool {
	out := map[string]bool{}
	for _, l := range d.lists {
		for _, o := range l.items {
			for _, name := range of(o) {
				if !kept(name) {
					out[name] = true
				}
			}
		}
	}
	return out
}

// add gives names that have none yet a new one.
func (n names) add(prefix string, of map[string]bool) {
	sorted := slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(name string) bool { return n.to[name] != "" })
	width := len(fmt.Sprint(n.given[prefix] + len(sorted)))
	for _, name := range sorted {
		n.given[prefix]++
		n.to[name] = fmt.Sprintf("%s-%0*d", prefix, width, n.given[prefix])
	}
}

// text is the string at a path of keys.
func text(o map[string]any, keys ...string) string {
	for _, key := range keys[:len(keys)-1] {
		o, _ = o[key].(map[string]any)
	}
	s, _ := o[keys[len(keys)-1]].(string)
	return s
}

// word is the new form of a name: that of the whole, or with every part replaced that is a name.
func (n names) word(old string) string {
	if to := n.to[old]; to != "" {
		return to
	}
	parts := strings.Split(old, "-")
	var out []string
	for i := 0; i < len(parts); {
		length := 1
		to := parts[i]
		for j := len(parts); j > i; j-- {
			if found := n.to[strings.Join(parts[i:j], "-")]; found != "" {
				to, length = found, j-i
				break
			}
		}
		out = append(out, to)
		i += length
	}
	return strings.Join(out, "-")
}

// isName tells whether a text looks like a name: a word of small letters, digits, dots and dashes.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

// message replaces the names in a text for people.
func (n names) message(s string) string {
	var out strings.Builder
	for s != "" {
		end := strings.IndexFunc(s, func(c rune) bool { return !isName(string(c)) })
		if end < 0 {
			end = len(s)
		}
		// A full stop at the end is not part of the name.
		word := strings.TrimRight(s[:end], ".")
		if slices.Contains(plainWords, word) {
			out.WriteString(s[:end])
		} else {
			out.WriteString(n.word(word) + s[len(word):end])
		}
		if s = s[end:]; s != "" {
			out.WriteByte(s[0])
			s = s[1:]
		}
	}
	return out.String()
}

// object replaces the names in an object. The own name of some kinds is kept.
func (n names) object(o map[string]any, keepName bool) {
	own, keptNamespace := text(o, "metadata", "name"), isKeptNamespace(text(o, "metadata", "namespace"))
	n.value("", "", o)
	if metadata, ok := o["metadata"].(map[string]any); ok && (keepName || keptNamespace) && own != "" {
		metadata["name"] = own
	}
	data, _ := o["data"].(map[string]any)
	if config, ok := data[ManagerConfigKey].(string); ok {
		data[ManagerConfigKey] = n.config(config)
	}
}

// config replaces the names in Kueue's configuration, which selects namespaces.
func (n names) config(old string) string {
	var config map[string]any
	if yaml.Unmarshal([]byte(old), &config) != nil {
		return old // it is shown as broken as it is
	}
	n.value("", "", config)
	out, err := yaml.Marshal(config)
	if err != nil {
		return old
	}
	return string(out)
}

// nameFields hold the name of an object, besides the fields whose names end in Name.
var nameFields = []string{"namespace", "clusterQueue", "cohort", "parent", "queue", "pool"}

// otherNames end in Name and hold the name of something else.
var otherNames = []string{"deviceClassName", "runtimeClassName", "schedulerName", "containerName", "resourceName",
	"extendedResourceName"}

// nameHolders are the fields whose name field is the name of an object, besides those that end in Ref.
var nameHolders = []string{"metadata", "ownerReferences", "pool", "reservedFor"}

func holdsName(parent, key string) bool {
	switch {
	case key == "name":
		return slices.Contains(nameHolders, parent) || strings.HasSuffix(parent, "Ref")
	case key == "generateName":
		return true
	}
	return slices.Contains(nameFields, key) || strings.HasSuffix(key, "Name") && !slices.Contains(otherNames, key)
}

// value replaces the names in a value that stands at key of parent.
func (n names) value(parent, key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = n.value(key, k, e)
		}
	case []any:
		for i, e := range v {
			v[i] = n.value(parent, key, e)
		}
	case string:
		switch {
		case key == "message":
			return n.message(v)
		case !isName(v):
		case holdsName(parent, key), slices.Contains(wordMaps[:4], parent), key == "values":
			return n.word(v)
		}
	}
	return v
}
