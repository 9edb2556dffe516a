package rules

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	kubejson "sigs.k8s.io/json"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

var unknownField = &lint.Rule{
	ID: "GQ502", Name: "unknown-field", Severity: lint.Error, Concurrent: true,
	Doc: lint.Doc{
		Title: "A field is not part of the API version it is written in",
		Why: "kubectl refuses unknown fields, but clients that do not ask for strict validation drop them without a " +
			"word: a request without its class, a device without its memory. Most come from an older version of " +
			"resource.k8s.io.",
		Bad: "apiVersion: resource.k8s.io/v1\nspec:\n  devices:\n    requests:\n    - name: gpu\n      " +
			"deviceClassName: gpu.nvidia.com   # v1beta1\n",
		Good: "apiVersion: resource.k8s.io/v1\nspec:\n  devices:\n    requests:\n    - name: gpu\n      exactly: " +
			"{deviceClassName: gpu.nvidia.com}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		trees, known := fieldTrees{}, map[string]*fieldTree{}
		for i := range p.Documents {
			d := &p.Documents[i]
			key := d.APIVersion + " " + d.Kind
			empty, ok := documentTypes[key]
			if !ok {
				continue
			}
			if known[key] == nil {
				known[key] = trees.of(reflect.TypeOf(empty()))
			}
			if !known[key].knowsAll(d.JSON) {
				checkFields(p, d, empty())
			}
		}
	},
}

var unknownFieldText = regexp.MustCompile(`^unknown field "(.*)"$`)

// checkFields decodes a document into its type, and reports what the type does not have.
func checkFields(p *lint.Pass, d *source.Document, into any) {
	strict, err := kubejson.UnmarshalStrict(d.JSON, into, kubejson.DisallowUnknownFields)
	if err != nil {
		return // told as a document that can't be read
	}
	for _, e := range strict {
		m := unknownFieldText.FindStringSubmatch(e.Error())
		if m == nil {
			continue
		}
		path := strings.TrimPrefix(lint.FieldPath(d.JSON, m[1]), ".")
		name := path[strings.LastIndexAny(path, ".")+1:]
		out := lint.Diagnostic{At: lint.AtDocument(d, path).Name(), Severity: lint.Warning,
			Message: fmt.Sprintf("%s has no field %s in %s", d.Kind, m[1],
				d.APIVersion), Help: "remove it, or write it where it belongs; clients that are not strict drop it " +
				"without a word"}
		if strings.HasSuffix(lint.GroupOf(d), "k8s.io") {
			out.Severity = lint.Error
		}
		for _, h := range misplaced {
			if h.where.MatchString(d.APIVersion + " " + path) {
				out.Help = strings.ReplaceAll(h.help, "NAME", name)
			}
		}
		if flatRequest.MatchString(d.APIVersion + " " + path) {
			out.Fix = writeExactly(d)
		}
		p.Report(out)
	}
}

// flatRequest is a field of a request that stands where v1beta1 had it.
var flatRequest = regexp.MustCompile(`^resource\.k8s\.io/(v1|v1beta2) .*devices\.requests\[\d+\]\.\w+$`)

// misplaced are fields that have another place in this version, and where that is.
var misplaced = []struct {
	where *regexp.Regexp
	help  string
}{
	{flatRequest, "in this version it stands under exactly: exactly: {NAME: …}"},
	{regexp.MustCompile(`^resource\.k8s\.io/v1beta1 .*devices\.requests\[\d+\]\.exactly$`),
		"in v1beta1 its fields stand in the request itself; better write apiVersion: resource.k8s.io/v1"},
	{regexp.MustCompile(`^resource\.k8s\.io/(v1|v1beta2) spec\.devices\[\d+\]\.basic$`),
		"in this version its fields stand in the device itself, without basic"},
	{regexp.MustCompile(`^resource\.k8s\.io/v1beta1 spec\.devices\[\d+\]\.(attributes|capacity|consumesCounters)$`),
		"in v1beta1 it stands under basic; better write apiVersion: resource.k8s.io/v1"},
	{regexp.MustCompile(`^resource\.k8s\.io/.*\.attributes.*\.quantity$`),
		"an attribute is a string, int, bool or version; an amount is a capacity: capacity: {memory: {value: 80Gi}}"},
	{regexp.MustCompile(`^resource\.k8s\.io/.*\.capacity.*\.quantity$`),
		"an amount is written as value: capacity: {memory: {value: 80Gi}}"},
	{regexp.MustCompile(`^kueue\.x-k8s\.io/v1beta2 spec\.cohort$`), "in v1beta2 it is called cohortName"},
	{regexp.MustCompile(`^kueue\.x-k8s\.io/v1beta1 spec\.cohortName$`),
		"in v1beta1 it is called cohort; better write apiVersion: kueue.x-k8s.io/v1beta2"},
	{regexp.MustCompile(`^kueue\.x-k8s\.io/v1beta2 spec\.admissionChecks$`),
		"in v1beta2 checks stand in admissionChecksStrategy.admissionChecks, each with a name"},
}
