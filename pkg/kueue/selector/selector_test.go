package selector_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

const (
	noRange   = "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)"
	noSuchKey = "no such key: l"
)

// TestLibrary holds what k8s.io/dynamic-resource-allocation/cel v0.36.2 and v0.37.2 answered, built into a program of
// their own and asked about a device whose attribute s is the string abc.
func TestLibrary(t *testing.T) {
	type answer struct {
		compile string
		match   bool
		err     string
	}
	tests := map[string]struct{ old, today answer }{
		`device.attributes['d'].s.includes('abc')`:           {answer{match: true}, answer{match: true}},
		`device.attributes['d'].l.size() > 0`:                {answer{err: noSuchKey}, answer{err: noSuchKey}},
		`'a' in device.attributes['d'].l`:                    {answer{err: noSuchKey}, answer{err: noSuchKey}},
		`device.attributes['d'].l[0] == 'a'`:                 {answer{err: noSuchKey}, answer{err: noSuchKey}},
		`device.allowMultipleAllocations`:                    {answer{}, answer{}},
		`[1,2].includes(1)`:                                  {answer{match: true}, answer{match: true}},
		`device.attributes['d'].l.exists(x, x == 'a')`:       {answer{compile: "1:23: " + noRange}, answer{err: noSuchKey}},
		`device.attributes['d'].l.map(x, x).size() == 1`:     {answer{compile: "1:23: " + noRange}, answer{err: noSuchKey}},
		`device.attributes['d'].l.all(x, x > 0)`:             {answer{compile: "1:23: " + noRange}, answer{err: noSuchKey}},
		`device.attributes['d'].l.filter(x, x > 0).size()>0`: {answer{compile: "1:23: " + noRange}, answer{err: noSuchKey}},
		`device.attributes['d'].l.includes('a') || device.attributes['d'].l.exists(x, x=='a')`: {
			answer{compile: "1:65: " + noRange}, answer{err: noSuchKey}},
	}
	abc := "abc"
	device := dracel.Device{Driver: "d", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"s": {StringValue: &abc}}}
	for text, tc := range tests {
		t.Run(text, func(t *testing.T) {
			for library, want := range map[selector.Library]answer{{}: tc.old, selector.Newest: tc.today} {
				c := library.Compile(text)
				if want.compile != "" {
					want.compile = "compilation failed: ERROR: <input>:" + want.compile
				}
				if got, _, _ := strings.Cut(c.Detail, "\n"); got != want.compile {
					t.Errorf("%+v compiles with %q, want %q", library, got, want.compile)
				}
				if c.Detail != "" {
					continue
				}
				match, errs := c.Matches(device)
				if match != want.match || (len(errs) > 0) != (want.err != "") || len(errs) > 0 && errs[0].Error() != want.err {
					t.Errorf("%+v answers %t %v, want %+v", library, match, errs, want)
				}
			}
		})
	}
}

// TestAttributesThatFailEverySelector: a list fails every selector before Kubernetes 1.37, also one that does not look
// at it; a version that is none does with any. Of several Kueue names any one.
func TestAttributesThatFailEverySelector(t *testing.T) {
	bad, abc := "not a version", "abc"
	attributes := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"s":     {StringValue: &abc},
		"links": {StringValues: []string{"nv0", "nv1"}},
		"slots": {IntValues: []int64{}},
		"v":     {VersionValue: &bad},
	}
	const badVersion = "attribute v: parse semantic version: No Major.Minor.Patch elements found"
	tests := map[string][]string{
		"v0.18.6": {"attribute links: unsupported attribute value", "attribute slots: unsupported attribute value", badVersion},
		"v0.19.2": {"attribute links: unsupported attribute value", "attribute slots: unsupported attribute value", badVersion},
		"main":    {badVersion},
	}
	for version, want := range tests {
		match, errs := selector.Of(release.Of(version)).Compile("device.driver == 'd'").Matches(dracel.Device{Driver: "d", Attributes: attributes})
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if diff := cmp.Diff(want, got); diff != "" || match {
			t.Errorf("%s: match %t (-want +got):\n%s", version, match, diff)
		}
	}
}
