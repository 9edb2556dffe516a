package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// configSource is where a configuration was found.
type configSource struct {
	// data is the Configuration document; nil when operator is set.
	data []byte
	// operator tells that it has to be translated from the OpenShift Kueue resource.
	operator bool
	ref      cluster.Ref
	origin   *source.Origin
	// from names the source for people.
	from string
	// namespace of the manager, as far as the source tells it.
	namespace string
}

// findSource finds the configuration, the most trusted source first: the file the user names, what is laid over the
// cluster, the manager's ConfigMap, a Configuration document, the OpenShift Kueue resource.
func (r *resolver) findSource() error {
	r.findKueueResource()
	if r.opts.ConfigFile != "" || r.opts.ConfigData != nil {
		s, err := readConfigFile(r.opts.ConfigFile, r.opts.ConfigData)
		r.source = s
		return err
	}
	configMap, moreMaps := findConfigMap(r.snap, r.manager)
	document, moreDocuments := findDocument(r.snap)
	switch {
	case configMap != nil && (document == nil || laidFirst(configMap, document) <= 0):
		r.source = fromConfigMap(configMap)
		if len(moreMaps) > 0 {
			r.assume("%s", severalSentence("ConfigMaps with "+configKey, configMap, moreMaps))
		}
		if document != nil {
			r.assume("%s is used, not the Configuration document at %s", r.source.from, document.Origin)
		}
	case document != nil:
		r.source = fromDocument(document)
		if len(moreDocuments) > 0 {
			r.assume("%s", severalSentence("Configuration documents", document, moreDocuments))
		}
		if configMap != nil {
			r.assume("%s was given on top and is used, not %s", r.source.from, configMap.Ref)
		}
	case r.operator != nil:
		r.source = &configSource{operator: true, ref: r.kueue.Ref, origin: r.kueue.Origin,
			from: fmt.Sprintf("Kueue %s (OpenShift)", r.kueue.Ref.Name)}
	}
	return nil
}

// findKueueResource picks the Kueue resource; the operator obeys only the one named cluster.
func (r *resolver) findKueueResource() {
	all := r.snap.List(cluster.OpenShiftKueue)
	if len(all) == 0 {
		return
	}
	r.kueue = all[0]
	if named := r.snap.Get(cluster.OpenShiftKueue, "", "cluster"); named != nil {
		r.kueue = named
	} else {
		r.assume("the operator obeys only a Kueue resource named cluster; the one named %s is taken for it",
			r.kueue.Ref.Name)
	}
	raw := cluster.As[*cluster.Raw](r.kueue)
	if raw == nil {
		return
	}
	operator, err := readOpenShiftKueue(raw)
	if err != nil {
		r.assume("%v", err)
		return
	}
	r.operator = operator
}

func fromConfigMap(o *cluster.Object) *configSource {
	c := cluster.As[*corev1.ConfigMap](o)
	return &configSource{data: []byte(c.Data[configKey]), ref: o.Ref, from: o.Ref.String(), namespace: o.Ref.Namespace,
		origin: o.Origin.Embedded(configField, c.Data[configKey])}
}

// findDocument picks the Configuration document that was given last.
func findDocument(snap *cluster.Snapshot) (chosen *cluster.Object, others []*cluster.Object) {
	for _, o := range snap.List(cluster.KueueConfiguration) {
		switch {
		case cluster.As[*cluster.Raw](o) == nil:
		case chosen == nil:
			chosen = o
		case laidFirst(o, chosen) < 0 || laidFirst(o, chosen) == 0 && o.Seq > chosen.Seq:
			others = append(others, chosen)
			chosen = o
		default:
			others = append(others, o)
		}
	}
	return chosen, others
}

func fromDocument(o *cluster.Object) *configSource {
	data := cluster.As[*cluster.Raw](o).JSON
	from := "Configuration"
	if o.Origin != nil && o.Origin.File != "" {
		from = "file " + o.Origin.File
	}
	return &configSource{data: data, ref: o.Ref, origin: o.Origin, from: from, namespace: namespaceIn(data)}
}

// namespaceIn reads the namespace a Configuration names.
func namespaceIn(data []byte) string {
	var c struct {
		Namespace string `json:"namespace"`
	}
	if yaml.Unmarshal(data, &c) != nil {
		return ""
	}
	return c.Namespace
}

// readConfigFile reads the file the user names: the first Configuration in it, or ConfigMap that holds one.
// A single document of no kind is taken for a Configuration, as Kueue does.
func readConfigFile(path string, data []byte) (*configSource, error) {
	if data == nil {
		read, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the configuration of Kueue can't be read: %w", err)
		}
		data = read
	}
	documents := splitDocuments(data)
	for _, d := range documents {
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		headErr := yaml.Unmarshal(d.data, &head)
		s := &configSource{data: d.data, origin: source.TextOrigin(path, d.line, string(d.data)), from: "file " + path,
			ref: cluster.Ref{APIVersion: configapi.SchemeGroupVersion.String(), Kind: "Configuration"}}
		switch {
		case head.Kind == "Configuration", len(documents) == 1 && (headErr != nil || head.Kind == ""):
			s.namespace = namespaceIn(d.data)
			return s, nil
		case head.Kind == "ConfigMap":
			if s.readConfigMap(d.data) {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: neither a Configuration of Kueue nor a ConfigMap with the key %s", path, configKey)
}

// readConfigMap takes the Configuration out of a ConfigMap document.
func (s *configSource) readConfigMap(data []byte) bool {
	var c corev1.ConfigMap
	if yaml.Unmarshal(data, &c) != nil {
		return false
	}
	text, ok := c.Data[configKey]
	if !ok {
		return false
	}
	s.data, s.namespace = []byte(text), c.Namespace
	s.origin = s.origin.Embedded(configField, text)
	s.ref = cluster.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: c.Namespace, Name: c.Name}
	return true
}

// document is one document of a file.
type document struct {
	data []byte
	// line of its first byte, from 1.
	line int
}

// splitDocuments splits a YAML file at its separators. Documents with nothing in them are left out.
// A file that is one JSON value is one document.
func splitDocuments(data []byte) []document {
	if json.Valid(data) {
		return []document{{data, 1}}
	}
	var out []document
	start, startLine, line := 0, 1, 1
	flush := func(end int) {
		part := data[start:end]
		if !blank(part) {
			out = append(out, document{part, startLine})
		}
	}
	for at := 0; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if bytes.HasPrefix(data[at:end], []byte("---")) {
			flush(at)
			start, startLine = end, line+1
		}
		at = end
	}
	flush(len(data))
	return out
}

// blank tells whether YAML text holds nothing but white space and comments.
func blank(text []byte) bool {
	for l := range bytes.Lines(text) {
		l = bytes.TrimSpace(l)
		if len(l) > 0 && l[0] != '#' {
			return false
		}
	}
	return true
}
